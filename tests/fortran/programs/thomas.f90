! Tridiagonal systems by the Thomas algorithm.
module solvers
  implicit none
  integer, parameter :: wp = selected_real_kind(15, 307)
contains
  subroutine thomas(lower, diag, upper, rhs, x)
    real(wp), intent(in) :: lower(:), diag(:), upper(:), rhs(:)
    real(wp), intent(out) :: x(size(diag))
    real(wp) :: c(size(diag)), d(size(diag)), pivot
    integer :: i, n

    n = size(diag)
    c(1) = upper(1) / diag(1)
    d(1) = rhs(1) / diag(1)
    do i = 2, n
      pivot = diag(i) - lower(i) * c(i-1)
      if (i < n) c(i) = upper(i) / pivot
      d(i) = (rhs(i) - lower(i) * d(i-1)) / pivot
    end do
    x(n) = d(n)
    do i = n - 1, 1, -1
      x(i) = d(i) - c(i) * x(i+1)
    end do
  end subroutine thomas

  subroutine implicit_diffusion(n, steps, r, u)
    integer, intent(in) :: n, steps
    real(wp), intent(in) :: r
    real(wp), intent(inout) :: u(n)
    real(wp), dimension(n) :: lo, di, up, new
    integer :: t

    lo = -r
    up = -r
    di = 1 + 2 * r
    do t = 1, steps
      call thomas(lo, di, up, u, new)
      u = new
    end do
  end subroutine implicit_diffusion
end module solvers
