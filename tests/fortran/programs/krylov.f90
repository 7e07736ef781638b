! Conjugate gradients, whose matrix is a routine inside.
subroutine cg_solve(n, kappa, sigma, b, x, tol, maxit, niter)
  implicit none
  integer, intent(in) :: n, maxit
  real(8), intent(in) :: kappa(0:n), sigma, b(n), tol
  real(8), intent(out) :: x(n)
  integer, intent(out) :: niter
  real(8) :: r(n), p(n), ap(n)
  real(8) :: rr, rr_new, alpha
  integer :: it, i

  x = 0.0d0
  r = b
  p = r
  rr = dot_product(r, r)
  niter = 0
  do it = 1, maxit
    if (sqrt(rr) < tol) exit
    call matvec(p, ap)
    alpha = rr / dot_product(p, ap)
    x = x + alpha * p
    r = r - alpha * ap
    rr_new = dot_product(r, r)
    p = r + (rr_new / rr) * p
    rr = rr_new
    call count_it
  end do

contains

  subroutine matvec(v, w)
    real(8), intent(in) :: v(:)
    real(8), intent(out) :: w(:)
    do i = 1, n
      w(i) = (kappa(i-1) + kappa(i) + sigma) * v(i)
      if (i > 1) w(i) = w(i) - kappa(i-1) * v(i-1)
      if (i < n) w(i) = w(i) - kappa(i) * v(i+1)
    end do
  end subroutine matvec

  subroutine count_it
    niter = niter + 1
  end subroutine count_it
end subroutine cg_solve
