! Longwave radiation in bands with tables, and implicit diffusion by a module's tridiagonal solver.
module tables
  implicit none
  integer, parameter :: nband = 3, ntab = 5
  real(8), parameter :: tmin = 180.0d0, dtab = 40.0d0
  real(8), parameter :: absorption(nband, ntab) = reshape((/ &
    1.0d0, 0.2d0, 0.05d0,  1.2d0, 0.25d0, 0.06d0,  1.4d0, 0.3d0, 0.07d0, &
    1.7d0, 0.35d0, 0.08d0,  2.0d0, 0.4d0, 0.1d0 /), (/ nband, ntab /))
  real(8), parameter :: weight(nband) = [0.3d0, 0.5d0, 0.2d0]
  real(8) :: co2 = 400.0d0
contains
  pure function interpolate(band, t) result(a)
    integer, intent(in) :: band
    real(8), intent(in) :: t
    real(8) :: a, f
    integer :: i
    i = max(1, min(ntab - 1, int((t - tmin) / dtab) + 1))
    f = (t - (tmin + (i - 1) * dtab)) / dtab
    a = (1 - f) * absorption(band, i) + f * absorption(band, i + 1)
  end function interpolate
end module tables

module tridiagonal
  implicit none
contains
  subroutine tridag(a, b, c, r, u)
    real(8), dimension(:), intent(in) :: a, b, c, r
    real(8), dimension(:), intent(out) :: u
    real(8), dimension(size(b)) :: gam
    real(8) :: bet
    integer :: n, j
    n = size(b)
    bet = b(1)
    u(1) = r(1) / bet
    do j = 2, n
      gam(j) = c(j-1) / bet
      bet = b(j) - a(j) * gam(j)
      if (bet == 0.0d0) stop 'tridag: error'
      u(j) = (r(j) - a(j) * u(j-1)) / bet
    end do
    do j = n - 1, 1, -1
      u(j) = u(j) - gam(j+1) * u(j+1)
    end do
  end subroutine tridag
end module tridiagonal

subroutine column_model(nlev, nstep, t, q, dt, olr)
  use tables
  use tridiagonal, only: solve => tridag
  implicit none
  integer, intent(in) :: nlev, nstep
  real(8), intent(inout) :: t(nlev)
  real(8), intent(in) :: q(nlev), dt
  real(8), intent(out) :: olr
  real(8) :: a(nlev), b(nlev), c(nlev), heat(nlev), tnew(nlev)
  integer :: n, k
  do n = 1, nstep
    call longwave
    do k = 1, nlev
      a(k) = merge(-0.1d0 * dt, 0.0d0, k > 1)
      c(k) = merge(-0.1d0 * dt, 0.0d0, k < nlev)
      b(k) = 1 - a(k) - c(k)
    end do
    call solve(a, b, c, t + dt * heat, tnew)
    t = tnew
  end do
contains
  subroutine longwave
    real(8) :: up, trans, planck
    integer :: ib
    olr = 0
    heat(:) = 0
    do ib = 1, nband
      up = weight(ib) * 5.67d-8 * t(nlev)**4
      do k = nlev, 1, -1
        trans = exp(-interpolate(ib, t(k)) * q(k) * log(1 + co2 / 280))
        planck = weight(ib) * 5.67d-8 * t(k)**4
        heat(k) = heat(k) + (up - planck) * (1 - trans) * 1d-2
        up = up * trans + planck * (1 - trans)
      end do
      olr = olr + up
    end do
  end subroutine longwave
end subroutine column_model
