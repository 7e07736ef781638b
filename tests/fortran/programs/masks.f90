! Saturation: where, merge, mod, masks, and functions of arrays.
subroutine saturate(nx, nz, t, q, precip)
  implicit none
  integer, intent(in) :: nx, nz
  real, intent(in) :: t(nx, nz)
  real, intent(inout) :: q(nx, nz)
  real, intent(out) :: precip(nx)
  real :: qsat(nx, nz), excess
  logical :: is_even
  integer :: i, k

  where (t > 273.15)
    qsat = 0.611 * exp(17.27 * (t - 273.15) / (t - 35.86))
  elsewhere
    qsat = 0.611 * exp(21.87 * (t - 273.15) / (t - 7.66))
  end where
  precip = 0.0
  do k = 1, nz
    is_even = mod(k, 2) == 0
    do i = 1, nx
      excess = max(q(i, k) - qsat(i, k), 0.0)
      excess = excess * merge(1.0, 0.5, is_even)
      q(i, k) = q(i, k) - excess
      precip(i) = precip(i) + excess
    end do
  end do
end subroutine saturate
