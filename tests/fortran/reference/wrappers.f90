! Routines with assumed shapes, to be called by address.
subroutine call_thomas(n, lower, diag, upper, rhs, x)
  use solvers
  integer, intent(in) :: n
  real(wp), intent(in) :: lower(n), diag(n), upper(n), rhs(n)
  real(wp), intent(out) :: x(n)
  call thomas(lower, diag, upper, rhs, x)
end subroutine call_thomas

subroutine call_run(n, steps, dx, dt, h, q, energy)
  use shallow_water
  integer, intent(in) :: n, steps
  real(8), intent(in) :: dx, dt
  real(8), intent(inout) :: h(0:n+1), q(0:n+1)
  real(8), intent(out) :: energy
  call run(n, steps, dx, dt, h, q, energy)
end subroutine call_run

subroutine call_implicit_diffusion(n, steps, r, u)
  use solvers
  integer, intent(in) :: n, steps
  real(8), intent(in) :: r
  real(8), intent(inout) :: u(n)
  call implicit_diffusion(n, steps, r, u)
end subroutine call_implicit_diffusion

subroutine call_quadratic(m, n, a, x, y, value)
  integer, intent(in) :: m, n
  real(8), intent(in) :: a(m, n), x(n)
  real(8), intent(out) :: y(n), value
  interface
    subroutine quadratic(a, x, y, value)
      real(8), intent(in) :: a(:, :), x(:)
      real(8), intent(out) :: y(:), value
    end subroutine quadratic
  end interface
  call quadratic(a, x, y, value)
end subroutine call_quadratic

subroutine call_everything(x, y)
  use constructs
  real(8), intent(in) :: x(6)
  real(8), intent(inout) :: y(6, 45)
  call everything(x, y)
end subroutine call_everything

subroutine call_diffuse_column(th, p, dz, kdiff, dt, nsteps, ims, ime, kms, kme, jms, jme, its, ite, kts, kte, jts, jte)
  use module_physics
  integer, intent(in) :: nsteps, ims, ime, kms, kme, jms, jme, its, ite, kts, kte, jts, jte
  real(8), dimension(ims:ime, kms:kme, jms:jme), intent(inout) :: th
  real(8), dimension(ims:ime, kms:kme, jms:jme), intent(in) :: p, dz
  real(8), intent(in) :: kdiff, dt
  call diffuse_column(th, p, dz, kdiff, dt, nsteps, ims, ime, kms, kme, jms, jme, its, ite, kts, kte, jts, jte)
end subroutine call_diffuse_column
