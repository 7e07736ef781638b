! Lorenz-96 by Runge and Kutta's method; the forcing is a variable of the module.
module lorenz96
  implicit none
  real(8), save :: forcing = 8.0d0
contains
  subroutine integrate(n, nsteps, dt, x)
    integer, intent(in) :: n, nsteps
    real(8), intent(in) :: dt
    real(8), intent(inout) :: x(n)
    integer :: k
    do k = 1, nsteps
      call rk4()
    end do
  contains
    subroutine rk4()
      real(8), dimension(n) :: k1, k2, k3, k4
      k1 = tendency(x)
      k2 = tendency(x + 0.5d0 * dt * k1)
      k3 = tendency(x + 0.5d0 * dt * k2)
      k4 = tendency(x + dt * k3)
      x = x + dt / 6.0d0 * (k1 + 2.0d0 * k2 + 2.0d0 * k3 + k4)
    end subroutine rk4

    function tendency(y) result(dy)
      real(8), intent(in) :: y(:)
      real(8) :: dy(size(y))
      integer :: i
      do i = 1, size(y)
        dy(i) = (y(modulo(i, n) + 1) - y(modulo(i - 3, n) + 1)) * y(modulo(i - 2, n) + 1) - y(i) + forcing
      end do
    end function tendency
  end subroutine integrate
end module lorenz96
