! Cloud microphysics at points.
module thermodynamics
  implicit none
  integer, parameter :: rp = kind(0d0)
  real(rp), parameter :: t0 = 273.16_rp, rd = 287._rp, rv = 461.5_rp, cpd = 1004._rp
  real(rp), parameter :: eps0 = rd / rv
  real(rp), parameter :: lv = 2.5e6_rp, lf = 3.34e5_rp
contains
  elemental function esat(t, ice) result(e)
    real(rp), intent(in) :: t
    logical, intent(in) :: ice
    real(rp) :: e
    e = 611.2_rp * exp(merge(21.875_rp, 17.502_rp, ice) * (t - t0) / (t - merge(7.66_rp, 32.19_rp, ice)))
  end function esat

  pure real(rp) function qsat(t, p) result(q)
    real(rp), intent(in) :: t, p
    real(rp) :: e, fice
    fice = min(1._rp, max(0._rp, (t0 - t) / 23._rp))
    e = fice * esat(t, .true.) + (1 - fice) * esat(t, .false.)
    q = eps0 * e / max(p - (1 - eps0) * e, 1.e-3_rp)
  end function qsat
end module thermodynamics

subroutine microphysics(n, dt, p, t, qv, qc, qr, rain)
  use thermodynamics
  implicit none
  integer, intent(in) :: n
  real(rp), intent(in) :: dt
  real(rp), dimension(n), intent(in) :: p
  real(rp), dimension(n), intent(inout) :: t, qv, qc, qr
  real(rp), intent(out) :: rain
  real(rp), parameter :: qc0 = 5.e-4_rp, tiny_q = 1.e-12_rp
  real(rp) :: qs, dq, auto, accr, evap, lheat, rho, vt
  integer :: k, iter
  rain = 0
  do k = 1, n
    rho = p(k) / (rd * t(k) * (1 + 0.608_rp * qv(k)))
    do iter = 1, 2
      qs = qsat(t(k), p(k))
      lheat = lv + merge(lf, 0._rp, t(k) < t0 - 15)
      dq = (qv(k) - qs) / (1 + lheat**2 * qs / (cpd * rv * t(k)**2))
      dq = sign(min(abs(dq), merge(qv(k), qc(k), dq > 0)), dq)
      qv(k) = qv(k) - dq
      qc(k) = qc(k) + dq
      t(k) = t(k) + lheat / cpd * dq
    end do
    auto = 1.e-3_rp * dim(qc(k), qc0)
    accr = 2.2_rp * qc(k) * max(qr(k), tiny_q)**0.875_rp
    dq = min(qc(k), (auto + accr) * dt)
    qc(k) = qc(k) - dq
    qr(k) = qr(k) + dq
    evap = 1.6_rp * sqrt(max(qr(k), tiny_q)) * max(0._rp, 1 - qv(k) / qsat(t(k), p(k))) * dt * 1.e-4_rp
    evap = min(evap, qr(k))
    qr(k) = qr(k) - evap
    qv(k) = qv(k) + evap
    t(k) = t(k) - lv / cpd * evap
    vt = 36.34_rp * (1.e-3_rp * rho * max(qr(k), tiny_q))**0.1364_rp * sqrt(1.225_rp / rho)
    rain = rain + rho * qr(k) * vt * dt
    qr(k) = qr(k) * exp(-vt * dt / 500._rp)
  end do
end subroutine microphysics
