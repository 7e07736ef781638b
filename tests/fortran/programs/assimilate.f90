! The cost function of a variational assimilation of observations in a small model.
module observations
  implicit none
  integer, parameter :: nobs = 3
  integer :: every = 2
  integer, dimension(nobs) :: where_obs = (/ 2, 4, 6 /)
  real(8) :: sigma_o = 0.5d0, sigma_b = 1.0d0
  real(8), allocatable :: y(:, :), xb(:)
contains
  subroutine h_operator(x, hx)
    real(8), intent(in) :: x(:)
    real(8), intent(out) :: hx(nobs)
    hx = x(where_obs) + 0.1d0 * x(where_obs)**2
  end subroutine h_operator
end module observations

module burgers
  implicit none
  real(8) :: nu = 0.05d0
  real(8), private :: dx
contains
  subroutine setup(n)
    integer, intent(in) :: n
    dx = 1.0d0 / dble(n - 1)
  end subroutine setup
  subroutine model_step(x, dt)
    real(8), intent(inout) :: x(:)
    real(8), intent(in) :: dt
    integer :: n
    n = ubound(x, 1)
    x(2:n-1) = x(2:n-1) - dt * x(2:n-1) * (x(3:n) - x(1:n-2)) / (2 * dx) &
             + dt * nu * (x(3:) - 2 * x(2:n-1) + x(:n-2)) / dx**2
  end subroutine model_step
end module burgers

function cost(n, nt, dt, x0) result(j)
  use observations
  use burgers, only: setup, model_step
  implicit none
  integer, intent(in) :: n, nt
  real(8), intent(in) :: dt, x0(n)
  real(8) :: j
  real(8) :: x(n), hx(nobs)
  integer :: it, io
  call setup(n)
  x = x0
  j = 0.5d0 * sum((x - xb)**2) / sigma_b**2
  io = 0
  do it = 1, nt
    call model_step(x, dt)
    if (mod(it, every) /= 0) cycle
    io = io + 1
    call h_operator(x, hx)
    j = j + 0.5d0 * sum(((hx - y(:, io)) / sigma_o)**2)
  end do
  print *, 'cost', j
end function cost
