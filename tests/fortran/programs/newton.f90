! Loops that end by themselves: a root by Newton's method, and a series that stops.
subroutine kepler(n, mean, ecc, anomaly)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: mean(n), ecc
  real(8), intent(out) :: anomaly(n)
  real(8) :: e, step
  integer :: i
  do i = 1, n
    e = mean(i)
    step = 1.0d0
    do while (abs(step) > 1d-12)
      step = (e - ecc * sin(e) - mean(i)) / (1.0d0 - ecc * cos(e))
      e = e - step
    end do
    anomaly(i) = e
  end do
end subroutine kepler

subroutine series(x, tol, s, terms)
  implicit none
  real(8), intent(in) :: x, tol
  real(8), intent(out) :: s
  integer, intent(out) :: terms
  real(8) :: term
  integer :: k
  term = 1
  s = 0
  do k = 1, 100
    s = s + term
    term = term * x / k
    if (abs(term) < tol) exit
  end do
  terms = k
end subroutine series
