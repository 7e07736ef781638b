! Explicit diffusion in one and two dimensions.
subroutine heat_1d(n, steps, u, a, cost)
  implicit none
  integer, intent(in) :: n, steps
  real(8), intent(inout) :: u(n)
  real(8), intent(in) :: a(n)
  real(8), intent(out) :: cost
  real(8) :: v(n)
  integer :: i, t

  do t = 1, steps
    v = u
    do i = 2, n - 1
      u(i) = v(i) + a(i) * (v(i-1) - 2.0d0 * v(i) + v(i+1))
    end do
  end do
  cost = sum(u**2)
end subroutine heat_1d

subroutine heat_2d(nx, ny, steps, dt, u, kappa)
  implicit none
  integer, intent(in) :: nx, ny, steps
  double precision, intent(in) :: dt
  double precision, intent(inout) :: u(0:nx+1, 0:ny+1)
  double precision, intent(in) :: kappa(nx, ny)
  double precision, dimension(0:nx+1, 0:ny+1) :: old
  integer :: i, j, t

  do t = 1, steps
    old(:, :) = u(:, :)
    do j = 1, ny
      do i = 1, nx
        u(i, j) = old(i, j) + dt * kappa(i, j) * &
            & (old(i+1, j) + old(i-1, j) + old(i, j+1) + old(i, j-1) - 4 * old(i, j))
      end do
    end do
  end do
end subroutine heat_2d
