! Diffusion of heat in columns, in arrays with bounds of memory, domain and tile.
MODULE module_physics
  IMPLICIT NONE
  REAL(8), PARAMETER, PRIVATE :: cp = 1004.5D0, rd = 287.0D0, rcp = rd/cp
  REAL(8), PARAMETER :: p0 = 100000.D0
  PRIVATE
  PUBLIC :: diffuse_column
CONTAINS
  SUBROUTINE diffuse_column ( th, p, dz, kdiff, dt, nsteps, &
                              ims, ime, kms, kme, jms, jme, &
                              its, ite, kts, kte, jts, jte )
    INTEGER, INTENT(IN   ) :: ims, ime, kms, kme, jms, jme
    INTEGER, INTENT(IN   ) :: its, ite, kts, kte, jts, jte, nsteps
    REAL(8), DIMENSION( ims:ime, kms:kme, jms:jme ), INTENT(INOUT) :: th
    REAL(8), DIMENSION( ims:ime, kms:kme, jms:jme ), INTENT(IN   ) :: p, dz
    REAL(8), INTENT(IN) :: kdiff, dt
    REAL(8), DIMENSION( its:ite, kts:kte ) :: t, flux
    REAL(8) :: exner
    INTEGER :: i, j, k, n

    j_loop: DO j = jts, MIN(jte, jme-1)
      DO n = 1, nsteps
        DO k = kts, kte
          DO i = its, ite
            exner = (p(i,k,j)/p0)**rcp
            t(i,k) = th(i,k,j)*exner
          ENDDO
        ENDDO
        flux(its:ite, kts) = 0.
        DO k = kts+1, kte
          DO i = its, ite
            flux(i,k) = -kdiff*(t(i,k) - t(i,k-1)) / (0.5*(dz(i,k,j) + dz(i,k-1,j)))
          ENDDO
        ENDDO
        CALL apply_flux( flux, dz(its:ite,:,j), dt, t, ite-its+1, kte-kts+1 )
        DO k = kts, kte
          WHERE ( t(:,k) > 400.D0 ) t(:,k) = 400.D0
          th(its:ite,k,j) = t(:,k) / (p(its:ite,k,j)/p0)**rcp
        ENDDO
      ENDDO
    ENDDO j_loop
  END SUBROUTINE diffuse_column

  SUBROUTINE apply_flux( flux, dz, dt, t, ni, nk )
    INTEGER, INTENT(IN) :: ni, nk
    REAL(8), INTENT(IN) :: flux(ni,nk), dz(ni,nk), dt
    REAL(8), INTENT(INOUT) :: t(ni,nk)
    INTEGER :: k
    DO k = 1, nk-1
      t(:,k) = t(:,k) - dt*(flux(:,k+1) - flux(:,k))/dz(:,k)
    END DO
    t(:,nk) = t(:,nk) + dt*flux(:,nk)/dz(:,nk)
  END SUBROUTINE apply_flux
END MODULE module_physics
