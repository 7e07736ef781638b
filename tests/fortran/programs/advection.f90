! Advection with limiters: one that `if` chooses and one by `select case`, in a field with a halo.
subroutine advect(n, steps, courant, scheme, q, total)
  implicit none
  integer, intent(in) :: n, steps, scheme
  real(8), intent(in) :: courant
  real(8), intent(inout) :: q(-1:n+2)
  real(8), intent(out) :: total
  real(8) :: f(0:n), up, down, slope
  integer :: i, t

  do t = 1, steps
    q(-1:0) = q(n-1:n)
    q(n+1:n+2) = q(1:2)
    do i = 0, n
      up = q(i) - q(i-1)
      down = q(i+1) - q(i)
      select case (scheme)
      case (1)
        if (up * down <= 0) then
          slope = 0
        else if (abs(up) < abs(down)) then
          slope = up
        else
          slope = down
        end if
      case (2:3)
        slope = sign(max(0d0, min(abs(up), down * sign(1d0, up))), up)
      case default
        slope = 0.5d0 * (up + down)
      end select
      f(i) = courant * (q(i) + 0.5d0 * (1 - courant) * slope)
    end do
    do i = n, 1, -1
      q(i) = q(i) - (f(i) - f(i-1))
    end do
  end do
  total = 0
  do i = 1, n, 2
    total = total + q(i)**2
  end do
end subroutine advect
