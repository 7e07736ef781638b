! Shallow water with the state of the model in a module.
module parameters
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp) :: gravity = 9.81_dp, drag = 1.0e-2_dp
  real(dp), parameter :: pi = 3.14159265358979_dp
end module parameters

module state
  use parameters, only: dp
  implicit none
  integer :: nx = 8
  real(dp) :: dx = 0.1_dp, dt = 0.005_dp, time
  real(dp), allocatable :: h(:), u(:)
  real(dp), allocatable, private :: flux(:), hn(:)
contains
  subroutine init(amplitude)
    use parameters
    real(dp), intent(in) :: amplitude
    integer :: i
    allocate(h(0:nx+1), u(0:nx+1))
    do i = 1, nx
      h(i) = 1 + amplitude * sin(2 * pi * (i - 0.5_dp) / nx)
      u(i) = 0
    end do
    time = 0
  end subroutine init

  subroutine boundaries
    h(0) = h(nx)
    h(nx+1) = h(1)
    u(0) = u(nx)
    u(nx+1) = u(1)
  end subroutine boundaries

  subroutine step
    use parameters, only: g => gravity, drag
    integer :: i
    if (.not. allocated(flux)) allocate(flux(0:nx+1), hn(0:nx+1))
    call boundaries
    do i = 1, nx
      flux(i) = (h(i+1) * u(i+1) - h(i-1) * u(i-1)) / (2 * dx)
      hn(i) = 0.5_dp * (h(i-1) + h(i+1)) - dt * flux(i)
    end do
    do i = 1, nx
      u(i) = u(i) - dt * (g * (h(i+1) - h(i-1)) / (2 * dx) + drag * u(i) * abs(u(i)))
    end do
    h(1:nx) = hn(1:nx)
    time = time + dt
  end subroutine step
end module state

subroutine forecast(nsteps, amplitude, energy)
  use state
  use parameters, only: gravity
  implicit none
  integer, intent(in) :: nsteps
  real(dp), intent(in) :: amplitude
  real(dp), intent(out) :: energy
  integer :: it
  call init(amplitude)
  do it = 1, nsteps
    call step
  end do
  energy = sum(0.5_dp * h(1:nx) * u(1:nx)**2 + 0.5_dp * gravity * h(1:nx)**2) * dx + time
  deallocate(h, u)
end subroutine forecast
