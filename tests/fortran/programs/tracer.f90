! Advection of a tracer on a grid, a derived type with allocatable components, with limiters by functions.
module grids
  implicit none
  private
  public :: grid, make_grid, tracer_step
  integer, parameter, public :: rk = 8
  type grid
    integer :: nx, ny
    real(rk) :: dx, dy
    real(rk), allocatable :: q(:,:), u(:,:), v(:,:)
  end type grid
contains
  subroutine make_grid(g, nx, ny)
    type(grid), intent(inout) :: g
    integer, intent(in) :: nx, ny
    integer :: i, j
    g%nx = nx
    g%ny = ny
    g%dx = 1.0_rk / nx
    g%dy = 1.0_rk / ny
    allocate(g%q(0:nx+1, 0:ny+1), g%u(0:nx+1, 0:ny+1), g%v(0:nx+1, 0:ny+1))
    do concurrent (i = 0:nx+1, j = 0:ny+1)
      g%u(i,j) = 0.3_rk
      g%v(i,j) = 0.2_rk * cos(real(i, rk))
      g%q(i,j) = 0
    end do
  end subroutine make_grid

  elemental real(rk) function minmod(a, b)
    real(rk), intent(in) :: a, b
    if (a * b <= 0) then
      minmod = 0
    else
      minmod = sign(min(abs(a), abs(b)), a)
    end if
  end function minmod

  subroutine tracer_step(g, dt, relax)
    type(grid), intent(inout) :: g
    real(rk), intent(in) :: dt
    real(rk), intent(in), optional :: relax
    real(rk), allocatable :: old(:,:)
    real(rk) :: sx, sy
    integer :: i, j
    old = g%q
    associate (nx => g%nx, ny => g%ny, q => g%q)
      do j = 1, ny
        do i = 1, nx
          sx = minmod(old(i,j) - old(i-1,j), old(i+1,j) - old(i,j))
          sy = minmod(old(i,j) - old(i,j-1), old(i,j+1) - old(i,j))
          q(i,j) = old(i,j) - dt * (g%u(i,j) * sx / g%dx + g%v(i,j) * sy / g%dy)
          if (present(relax)) q(i,j) = q(i,j) * (1 - relax)
        end do
      end do
      q(0,:) = q(nx,:)
      q(nx+1,:) = q(1,:)
      q(:,0) = q(:,ny)
      q(:,ny+1) = q(:,1)
    end associate
  end subroutine tracer_step
end module grids

subroutine transport(nx, ny, n, q0, dt, total)
  use grids, only: grid, make_grid, tracer_step, rk
  implicit none
  integer, intent(in) :: nx, ny, n
  real(rk), intent(in) :: q0(nx, ny), dt
  real(rk), intent(out) :: total
  type(grid) :: g
  integer :: k
  call make_grid(g, nx, ny)
  g%q(1:nx, 1:ny) = q0
  do k = 1, n
    call tracer_step(g, dt, relax=0.01_rk)
  end do
  total = sum(g%q(1:nx, 1:ny)**2) * g%dx * g%dy
end subroutine transport
