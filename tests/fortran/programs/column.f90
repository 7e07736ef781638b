! A grey radiation column: fluxes down and up through layers, and their heating.
subroutine radiation(nlev, t, tau, tsurf, heating, olr)
  implicit none
  integer, parameter :: rk = 8
  integer, intent(in) :: nlev
  real(rk), intent(in) :: t(nlev), tau(nlev), tsurf
  real(rk), intent(out) :: heating(nlev), olr
  real(rk), parameter :: sigma = 5.67e-8_rk
  real(rk) :: down(0:nlev), up(0:nlev), trans(nlev), planck(nlev)
  integer :: k

  trans = exp(-1.66_rk * max(tau, 0.0_rk))
  planck(:) = sigma * t(:)**4
  down(0) = 0.0_rk
  do k = 1, nlev
    down(k) = down(k-1) * trans(k) + (1.0_rk - trans(k)) * planck(k)
  end do
  up(nlev) = sigma * tsurf**4
  do k = nlev, 1, -1
    up(k-1) = up(k) * trans(k) + (1.0_rk - trans(k)) * planck(k)
  end do
  olr = up(0)
  heating(1:nlev) = (down(0:nlev-1) - down(1:nlev)) - (up(0:nlev-1) - up(1:nlev))
end subroutine radiation
