! Soil moisture in a bucket, with parameters by the type of soil.
module soil_constants
  implicit none
  integer, parameter :: nsoil = 3, sand = 1, loam = 2, clay = 3
  real, parameter :: porosity(nsoil) = (/ 0.40, 0.45, 0.48 /)
  real, parameter :: wilting(nsoil) = [0.05, 0.12, 0.20]
  real :: depth = 1000.0
end module soil_constants

subroutine bucket(ndays, soil, rain, pet, w0, w, runoff, drainage)
  use soil_constants
  implicit none
  integer, intent(in) :: ndays, soil
  real, intent(in) :: rain(ndays), pet(ndays), w0
  real, intent(out) :: w(0:ndays), runoff, drainage
  real :: wmax, stress, et, k
  integer :: d
  real, save :: threshold = 0.75

  wmax = porosity(soil) * depth
  runoff = 0.0
  drainage = 0.0
  w(0) = w0
  days: do d = 1, ndays
    select case (soil)
    case (sand)
      k = 0.02
    case (loam:clay)
      k = 0.01 / soil
    case default
      write(*,*) 'no such soil', soil
      return
    end select
    stress = (w(d-1) - wilting(soil) * depth) / (wmax * (1.0 - wilting(soil)))
    if (stress >= threshold) then
      stress = 1.0
    else if (stress <= 0.0) then
      stress = 0.0
    else
      stress = stress / threshold
    endif
    et = pet(d) * stress**1.5
    w(d) = w(d-1) + rain(d) - et - k * max(w(d-1), 0.0)
    drainage = drainage + k * max(w(d-1), 0.0)
    if (w(d) > wmax) then
      runoff = runoff + (w(d) - wmax)
      w(d) = wmax
    end if
  end do days
end subroutine bucket
