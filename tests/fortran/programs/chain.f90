! A chain of masses and springs, as derived types.
module chain
  implicit none
  integer, parameter :: wp = selected_real_kind(12)

  type spring
    real(wp) :: stiffness = 1.0_wp
    real(wp) :: length = 1.0_wp
  end type spring

  type mass
    real(wp) :: m
    real(wp) :: x(2), v(2)
  end type mass

  type system
    integer :: n = 4
    real(wp) :: damping = 0.1_wp
    type(mass) :: mass(4)
    type(spring) :: link
  contains
    procedure :: energy => system_energy
    procedure :: advance
  end type system

contains

  pure function force(link, a, b) result(f)
    type(spring), intent(in) :: link
    type(mass), intent(in) :: a, b
    real(wp) :: f(2)
    real(wp) :: d(2), r
    d = b%x - a%x
    r = sqrt(sum(d**2))
    f = link%stiffness * (r - link%length) * d / r
  end function force

  subroutine kick(this, f, dt)
    type(mass), intent(inout) :: this
    real(wp), intent(in) :: f(2), dt
    this%v = this%v + dt * f / this%m
  end subroutine kick

  subroutine advance(this, dt)
    class(system), intent(inout) :: this
    real(wp), intent(in) :: dt
    real(wp) :: f(2)
    integer :: i
    do i = 1, this%n - 1
      f = force(this%link, this%mass(i), this%mass(i+1))
      call kick(this%mass(i), f, dt)
      call kick(this%mass(i+1), -f, dt)
    end do
    do i = 1, this%n
      this%mass(i)%v = this%mass(i)%v * (1 - dt * this%damping)
      this%mass(i)%x = this%mass(i)%x + dt * this%mass(i)%v
    end do
  end subroutine advance

  function system_energy(this) result(e)
    class(system), intent(in) :: this
    real(wp) :: e
    integer :: i
    e = 0
    do i = 1, this%n
      e = e + 0.5_wp * this%mass(i)%m * dot_product(this%mass(i)%v, this%mass(i)%v)
    end do
    do i = 1, this%n - 1
      e = e + 0.5_wp * this%link%stiffness &
        * (norm2(this%mass(i+1)%x - this%mass(i)%x) - this%link%length)**2
    end do
  end function system_energy

  subroutine simulate(sys, steps, dt, e)
    type(system), intent(in) :: sys
    integer, intent(in) :: steps
    real(wp), intent(in) :: dt
    real(wp), intent(out) :: e
    type(system) :: now
    integer :: k
    now = sys
    do k = 1, steps
      call now%advance(dt)
    end do
    e = now%energy()
  end subroutine simulate
end module chain
