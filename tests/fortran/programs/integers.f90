! Integers as Fortran has them: quotients toward zero, remainders, powers, loop variables after their loops.
subroutine folded(n, x, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(0:n-1)
  real(8), intent(out) :: y(0:n-1)
  integer :: i, k, centre
  y = 0
  centre = n / 2
  do i = 0, n - 1
    k = (i - centre) / 2
    y(i) = x(abs(k)) * (i - centre)**2 + mod(i - centre, 3) * x(i)
    y(i) = y(i) + modulo(i - centre, 3) * x(mod(i, 2)) / 2
  end do
  do i = 1, n, 3
    y(0) = y(0) + x(i - 1)**2
  end do
  y(mod(i, n)) = y(mod(i, n)) * i
end subroutine folded
