! One-dimensional shallow water by Lax-Friedrichs, with reflecting walls.
module constants
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: gravity = 9.81_dp
end module constants

module shallow_water
  use constants, only: dp, g => gravity
  implicit none
contains
  pure function flux(h, q) result(f)
    real(dp), intent(in) :: h, q
    real(dp) :: f
    f = q**2 / h + 0.5_dp * g * h * h
  end function flux

  subroutine reflect(h, q)
    real(dp), intent(inout) :: h(0:), q(0:)
    integer :: last
    last = ubound(h, 1)
    h(0) = h(1)
    h(last) = h(last-1)
    q(0) = -q(1)
    q(last) = -q(last-1)
  end subroutine reflect

  subroutine run(n, steps, dx, dt, h, q, energy)
    integer, intent(in) :: n, steps
    real(dp), intent(in) :: dx, dt
    real(dp), intent(inout) :: h(0:n+1), q(0:n+1)
    real(dp), intent(out) :: energy
    real(dp) :: hn(0:n+1), qn(0:n+1), r
    integer :: i, it

    r = dt / (2 * dx)
    do it = 1, steps
      call reflect(h, q)
      do i = 1, n
        hn(i) = 0.5_dp * (h(i-1) + h(i+1)) - r * (q(i+1) - q(i-1))
        qn(i) = 0.5_dp * (q(i-1) + q(i+1)) - r * (flux(h(i+1), q(i+1)) - flux(h(i-1), q(i-1)))
      end do
      h(1:n) = hn(1:n)
      q(1:n) = qn(1:n)
    end do
    energy = 0
    do i = 1, n
      energy = energy + 0.5_dp * (q(i)**2 / h(i) + g * h(i)**2) * dx
    end do
  end subroutine run
end module shallow_water
