! Programs with indices out of range, some of them for certain.
module lengths
  implicit none
  integer, parameter :: wp = kind(1.0)
end module lengths

subroutine before_the_first(n, x, s)
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: s
  integer :: i
  s = 0
  do i = 1, n
    s = s + x(i) * x(i-1)
  end do
end subroutine before_the_first

subroutine section_before(x, s)
  real(8), intent(in) :: x(:)
  real(8), intent(out) :: s
  s = sum(x(0:3))
end subroutine section_before

subroutine element_before(x, s)
  real(8), intent(in) :: x(:)
  real(8), intent(out) :: s
  s = x(0)
end subroutine element_before

subroutine sections_after(n, x, s)
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: s
  integer :: i
  s = 0
  do i = 1, n
    s = s + sum(x(i:i+1)) + sum(x(i+1:n)) + sum(x(1:n+1:2)) + sum(x(n+1:n))
  end do
end subroutine sections_after

subroutine many(n, flag, x, y, z, k, c, s)
  use lengths
  integer, intent(in) :: n, k(2, n)
  logical, intent(in) :: flag
  real(wp), intent(in) :: x(n, 2*n)
  real(8), intent(inout) :: y(0:n)
  real(8), intent(in), optional :: z
  real(wp) :: c
  real(8), intent(out) :: s(n, n + 1)
  s(1, 1) = x(1, 1) * y(0) * c * k(1, 1)
  if (present(z)) s(2, 1) = z
  if (flag) y(0) = 1
end subroutine many
