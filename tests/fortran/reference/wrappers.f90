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

subroutine call_everything_shared(x, y)
  use shared_constructs
  real(8), intent(in) :: x(6)
  real(8), intent(inout) :: y(6, 26)
  call everything_shared(x, y)
end subroutine call_everything_shared

subroutine call_diffuse_column(th, p, dz, kdiff, dt, nsteps, ims, ime, kms, kme, jms, jme, its, ite, kts, kte, jts, jte)
  use module_physics
  integer, intent(in) :: nsteps, ims, ime, kms, kme, jms, jme, its, ite, kts, kte, jts, jte
  real(8), dimension(ims:ime, kms:kme, jms:jme), intent(inout) :: th
  real(8), dimension(ims:ime, kms:kme, jms:jme), intent(in) :: p, dz
  real(8), intent(in) :: kdiff, dt
  call diffuse_column(th, p, dz, kdiff, dt, nsteps, ims, ime, kms, kme, jms, jme, its, ite, kts, kte, jts, jte)
end subroutine call_diffuse_column

subroutine call_simulate(damping, m, x, v, stiffness, length, steps, dt, e)
  use chain
  implicit none
  integer, intent(in) :: steps
  real(8), intent(in) :: damping, m(4), x(2, 4), v(2, 4), stiffness, length, dt
  real(8), intent(out) :: e
  type(system) :: sys
  integer :: i
  sys%damping = damping
  do i = 1, 4
    sys%mass(i)%m = m(i)
    sys%mass(i)%x = x(:, i)
    sys%mass(i)%v = v(:, i)
  end do
  sys%link = spring(stiffness, length)
  call simulate(sys, steps, dt, e)
end subroutine call_simulate

subroutine call_integrate(n, nsteps, dt, x, f)
  use lorenz96
  implicit none
  integer, intent(in) :: n, nsteps
  real(8), intent(in) :: dt, f
  real(8), intent(inout) :: x(n)
  forcing = f
  call integrate(n, nsteps, dt, x)
end subroutine call_integrate

subroutine call_forecast(nsteps, amplitude, depth_drag, energy)
  use parameters, only: drag
  implicit none
  integer, intent(in) :: nsteps
  real(8), intent(in) :: amplitude, depth_drag
  real(8), intent(out) :: energy
  drag = depth_drag
  call forecast(nsteps, amplitude, energy)
end subroutine call_forecast

subroutine call_cost(n, nt, dt, x0, obs, background, viscosity, result)
  use observations, only: y, xb
  use burgers, only: nu
  implicit none
  integer, intent(in) :: n, nt
  real(8), intent(in) :: dt, x0(n), obs(3, 3), background(n), viscosity
  real(8), intent(out) :: result
  real(8), external :: cost
  y = obs
  xb = background
  nu = viscosity
  result = cost(n, nt, dt, x0)
end subroutine call_cost
