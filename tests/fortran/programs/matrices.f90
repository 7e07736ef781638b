! Products of matrices, with loops and with intrinsics, and a factorisation.
subroutine gemm(m, n, k, alpha, a, b, beta, c)
  integer, intent(in) :: m, n, k
  real*8, intent(in) :: alpha, beta, a(m, k), b(k, n)
  real*8, intent(inout) :: c(m, n)
  do j = 1, n
    do i = 1, m
      c(i, j) = beta * c(i, j)
    enddo
    do l = 1, k
      do i = 1, m
        c(i, j) = c(i, j) + alpha * a(i, l) * b(l, j)
      enddo
    enddo
  enddo
end subroutine

subroutine quadratic(a, x, y, value)
  implicit none
  real(kind=8), intent(in) :: a(:, :), x(:)
  real(kind=8), intent(out) :: y(:), value
  y = matmul(transpose(a), matmul(a, x))
  value = dot_product(x, y) / size(x)
end subroutine quadratic

subroutine cholesky(n, a, logdet)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: a(n, n)
  real(8), intent(out) :: logdet
  integer :: i, j
  do j = 1, n
    a(j, j) = sqrt(a(j, j) - dot_product(a(j, 1:j-1), a(j, 1:j-1)))
    do i = j + 1, n
      a(i, j) = (a(i, j) - dot_product(a(i, 1:j-1), a(j, 1:j-1))) / a(j, j)
    end do
  end do
  logdet = 0d0
  do j = 1, n
    logdet = logdet + 2 * log(a(j, j))
  end do
end subroutine cholesky
