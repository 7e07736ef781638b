! Constructs by which routines share variables, and derived types: each a subroutine of six numbers.
module store
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, private, parameter :: first = 2
  real(dp) :: level = 1.5_dp, slope(3) = [0.5_dp, 1.5_dp, 2.5_dp]
  real(dp), dimension(first:first+2) :: shifted = 0.25_dp
  integer :: many = 3
  real(dp), allocatable :: field(:), table(:, :)
  real(dp), allocatable, save :: cache(:)
  type pair
    real(dp) :: a = 0.5_dp
    real(dp) :: b(3) = [1.0_dp, 2.0_dp, 3.0_dp]
  end type pair
  type(pair) :: kept
contains
  subroutine make_field(n)
    integer, intent(in) :: n
    if (allocated(field)) deallocate(field)
    allocate(field(0:n), table(n, -1:1))
    field = 2
    table = 0
  end subroutine make_field

  subroutine raise_level(by)
    real(dp), intent(in) :: by
    level = level + by
    slope(many) = slope(many) * level
  end subroutine raise_level
end module store

module second
  implicit none
  real(8) :: level = 10, other = 2
end module second

module shapes
  use store, only: dp, pair
  implicit none
  type point
    real(dp) :: x, y
  end type point
  type body
    integer :: n = 3
    type(point) :: centre
    real(dp) :: w(0:2) = 1
    type(pair) :: p
  contains
    procedure :: moved
    procedure :: weigh => weigh_body
  end type body
  type series
    integer :: length = 0
    real(dp), allocatable :: v(:)
    real(dp), allocatable :: m(:, :)
  end type series
contains
  subroutine moved(this, dx, dy)
    class(body), intent(inout) :: this
    real(dp), intent(in) :: dx
    real(dp), intent(in), optional :: dy
    this%centre%x = this%centre%x + dx
    if (present(dy)) this%centre%y = this%centre%y + dy
  end subroutine moved

  real(dp) function weigh_body(self, factor) result(total)
    class(body), intent(in) :: self
    real(dp), intent(in) :: factor
    total = factor * sum(self%w(:self%n - 1)) + self%centre%x * self%centre%y + self%p%b(2) * self%p%a
  end function weigh_body

  type(point) function middle(a, b)
    type(point), intent(in) :: a, b
    middle%x = (a%x + b%x) / 2
    middle%y = (a%y + b%y) / 2
  end function middle

  function spread_out(p) result(b)
    type(point), intent(in) :: p
    type(body) :: b
    b%centre = p
    b%w = [p%x, p%y, p%x * p%y]
  end function spread_out

  subroutine swap(a, b)
    type(point), intent(inout) :: a, b
    type(point) :: t
    t = a
    a = b
    b = t
  end subroutine swap

  subroutine grow(s, x)
    type(series), intent(inout) :: s
    real(dp), intent(in) :: x(:)
    if (.not. allocated(s%v)) then
      allocate(s%v(-1:1))
      s%v = 1
    end if
    s%length = s%length + 1
    s%v(min(s%length, 3) - 2) = x(1)
    s%m = reshape(x(1:6), [2, 3])
  end subroutine grow
end module shapes

module overloads
  implicit none
  private :: size_1, size_n, size_i
  interface size_of
    module procedure size_1, size_n
    procedure size_i
  end interface size_of
  interface negate
    module procedure negate_1
    module procedure negate_n
  end interface
contains
  real(8) function size_1(v)
    real(8), intent(in) :: v
    size_1 = abs(v)
  end function size_1
  real(8) function size_n(v)
    real(8), intent(in) :: v(:)
    size_n = sqrt(sum(v**2))
  end function size_n
  real(8) function size_i(v)
    integer, intent(in) :: v
    size_i = v / 2
  end function size_i
  subroutine negate_1(v)
    real(8), intent(inout) :: v
    v = -v
  end subroutine negate_1
  subroutine negate_n(v)
    real(8), intent(inout) :: v(:)
    v = -2 * v
  end subroutine negate_n
end module overloads

subroutine outer_scale(v, n, by)
  integer, intent(in) :: n
  real(8), intent(inout) :: v(n)
  real(8), intent(in) :: by
  v = v * by
end subroutine outer_scale

real(8) function outer_mean(v, n)
  integer, intent(in) :: n
  real(8), intent(in) :: v(n)
  outer_mean = sum(v) / n
end function outer_mean

subroutine undeclared(x, y)
  implicit real(8) (a-h, o-z)
  real(8), intent(in) :: x(6)
  real(8), intent(inout) :: y(6)
  call inside
  y(1) = scale
  do k = 1, 2
    y(k + 1) = x(k) * k
  end do
  call inside
  y(4) = k
  y(5) = scale * y(2)
contains
  subroutine inside
    scale = x(1) + 1
    k = k + 2
    only_here = 3
    y(6) = y(6) + only_here
  end subroutine inside
end subroutine undeclared

module first_half
  implicit none
  private
  public :: apply, prepare, table
  real(8) :: table(3) = 0
  logical :: ready = .false.
contains
  subroutine apply(v)
    real(8), intent(inout) :: v(:)
    v = helper(v(1)) + v
  end subroutine apply
  real(8) function helper(v)
    real(8), intent(in) :: v
    helper = v / 2
  end function helper
  subroutine prepare(v)
    real(8), intent(in) :: v
    if (ready) return
    table = [v, 2 * v, 3 * v]
    ready = .true.
  end subroutine prepare
end module first_half

module second_half
  implicit none
  private
  public :: apply
contains
  subroutine apply(v)
    real(8), intent(inout) :: v(:)
    v = helper(v(1)) * v
  end subroutine apply
  real(8) function helper(v)
    real(8), intent(in) :: v
    helper = v**2
  end function helper
end module second_half

module solvers_by_routine
  implicit none
  abstract interface
    subroutine tendency(s, ds)
      real(8), intent(in) :: s(:)
      real(8), intent(out) :: ds(:)
    end subroutine tendency
  end interface
contains
  subroutine march(f, s, dt, steps)
    procedure(tendency) :: f
    real(8), intent(inout) :: s(:)
    real(8), intent(in) :: dt
    integer, intent(in) :: steps
    integer :: k
    do k = 1, steps
      call step(f, s, dt)
    end do
  end subroutine march
  subroutine step(f, s, dt)
    interface
      subroutine f(s, ds)
        real(8), intent(in) :: s(:)
        real(8), intent(out) :: ds(:)
      end subroutine f
    end interface
    real(8), intent(inout) :: s(:)
    real(8), intent(in) :: dt
    real(8) :: k1(size(s)), k2(size(s))
    call f(s, k1)
    call f(s + dt * k1, k2)
    s = s + dt / 2 * (k1 + k2)
  end subroutine step
  real(8) function root(f, guess)
    real(8), external :: f
    real(8), intent(in) :: guess
    integer :: k
    root = guess
    do k = 1, 8
      root = root - f(root) / ((f(root + 1d-3) - f(root - 1d-3)) / 2d-3)
    end do
  end function root
  subroutine spin(s, ds)
    real(8), intent(in) :: s(:)
    real(8), intent(out) :: ds(:)
    ds(1) = -s(2)
    ds(2) = s(1)
  end subroutine spin
  real(8) function cubic(v)
    real(8), intent(in) :: v
    cubic = v**3 - 2
  end function cubic
  subroutine apply_twice(f, v)
    external f
    real(8), intent(inout) :: v
    call f(v)
    call f(v)
  end subroutine apply_twice
end module solvers_by_routine

module levels
  implicit none
  real(8), target :: storage(3, 2) = 0
  real(8), pointer :: now(:), next(:)
  type view
    real(8), pointer :: row(:) => null()
  end type view
contains
  subroutine start(v)
    real(8), intent(in) :: v(3)
    now => storage(:, 1)
    next => storage(:, 2)
    now = v
  end subroutine start
  subroutine advance(by)
    real(8), intent(in) :: by
    real(8), pointer :: held(:)
    integer :: i
    do i = 1, 3
      next(i) = now(i) + by * now(mod(i, 3) + 1)
    end do
    held => now
    now => next
    next => held
  end subroutine advance
end module levels

module shared_constructs
  implicit none
  real(8), private :: running = 1, gain(3) = 5
  integer :: counter
contains
  subroutine module_variables(x, y) ! sharing | variables of modules, with first values, read and written
    use store
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    call raise_level(x(1))
    y(1) = level
    level = level * x(2)
    call raise_level(x(3))
    y(2) = level
    y(3:5) = slope * x(1)
    y(6) = shifted(4) * shifted(2) + many
    shifted(3:4) = x(4)
    y(6) = y(6) + sum(shifted)
  end subroutine module_variables

  subroutine module_arrays(x, y) ! sharing | allocatable arrays of modules, also with other lower bounds
    use store, only: make_field, f => field, table, n => many, cache
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    integer :: i
    call make_field(n)
    do i = 0, n
      f(i) = f(i) + x(i + 1)
    end do
    table(:, 0) = x(2) * f(1:)
    if (.not. allocated(cache)) allocate(cache(0:n), source=f)
    cache(0) = 7
    y(1) = f(0)
    y(2) = f(n)
    y(3) = sum(table)
    y(4) = lbound(f, 1) + ubound(table, 2) + size(f)
    y(5) = sum(cache)
    y(6) = table(3, 0)
    deallocate(f, table)
  end subroutine module_arrays

  subroutine same_names(x, y) ! sharing | the same name in several modules, and names that are changed by `use`
    use second, only: upper => level, other
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    real(8) :: level
    level = x(1)
    call add_to_it
    y(1) = level
    y(2) = upper
    y(3) = other
    other = other * x(2)
    y(4) = other * twice(x(3))
    y(5) = gain(2) + x(5)
  contains
    real(8) function gain(k)
      integer, intent(in) :: k
      gain = k * x(1)
    end function gain
    subroutine add_to_it
      use second, only: level
      level = level + x(4)
      other = other + level
    end subroutine add_to_it
    real(8) function twice(level)
      real(8), intent(in) :: level
      twice = 2 * level + upper
    end function twice
  end subroutine same_names

  subroutine kept_values(x, y) ! sharing | `save`, first values and `data`
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6
      call sum_up(x(i), y(i))
    end do
    y(6) = y(6) + running
  end subroutine kept_values

  subroutine sum_up(v, total)
    real(8), intent(in) :: v
    real(8), intent(out) :: total
    real(8) :: before = 0, last(2), coefficients(4), unit
    integer :: calls
    save calls, last
    data calls /0/, last, coefficients /2*1.0d0, 0.5d0, 3*2d0/, unit /1d0/
    calls = calls + 1
    before = before + coefficients(min(calls, 4)) * v * last(1)
    last(1) = last(2)
    last(2) = v * unit
    running = running + calls * v
    total = before
  end subroutine sum_up

  subroutine host_variables(x, y) ! sharing | variables of the routine around, also counters and arguments
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    real(8) :: a, b(0:5), scale
    integer :: i, j, n
    n = 5
    scale = x(1)
    a = 1
    call fill
    do j = 1, 3
      call shift(x(j))
      a = a + b(j)
    end do
    y(1) = a
    y(2) = i + j
    y(3:5) = b(1:3)
    call nested(y(6))
  contains
    subroutine fill
      do i = 0, n
        b(i) = scale * x(i + 1)
      end do
      n = n - 1
    end subroutine fill
    subroutine shift(a)
      real(8), intent(in) :: a
      integer :: i
      scale = scale * a
      do i = 1, n
        b(i) = b(i) + b(i - 1) * scale
      end do
    end subroutine shift
    subroutine nested(out)
      real(8), intent(out) :: out
      real(8) :: scale
      scale = 2
      call fill
      out = scale * norm() + n
    end subroutine nested
    real(8) function norm()
      norm = sqrt(sum(b**2)) * scale
    end function norm
  end subroutine host_variables

  subroutine module_counters(x, y) ! sharing | counters that are variables of modules
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    do counter = 1, 4
      y(counter) = x(counter)**2
    end do
    call after
    y(6) = x(1) * counter
  contains
    subroutine after
      y(5) = counter * x(2)
      do counter = 10, 1, -3
      end do
    end subroutine after
  end subroutine module_counters

  subroutine common_blocks(x, y) ! sharing | common blocks, under other names in each routine
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    real(8) :: total, parts(3)
    integer :: n
    common /block/ total, parts, n
    total = 1
    parts = x(1:3)
    n = 2
    call common_inside(x(4))
    y(1) = total
    y(2:4) = parts
    y(5) = n
    y(6) = n * total
  end subroutine common_blocks

  subroutine common_inside(v)
    real(8), intent(in) :: v
    real(8) :: t, total
    real(8), dimension(3) :: p
    integer :: k
    common /block/ t, p, k
    total = sum(p)
    t = t + v * total
    p(k) = t
    k = k + 1
  end subroutine common_inside

  subroutine components(x, y) ! derived types | components: numbers, arrays, nested ones, with first values
    use shapes
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    type(body) :: b
    real(8) :: b__n
    integer :: i
    b__n = 3
    b%centre%x = x(1)
    b%centre%y = x(2) * b%centre%x
    do i = 0, b%n - 1
      b%w(i) = b%w(i) + x(i + 1) * b__n
    end do
    b%n = b%n - 1
    b%p%b(2:3) = b%w(0:1) * 2
    y(1) = b%centre%x + b%n + b%p%a
    y(2) = b%centre%y
    y(3:5) = b%w
    y(6) = sum(b%p%b) + lbound(b%w, 1) + size(b%w)
  end subroutine components

  subroutine structure_arrays(x, y) ! derived types | arrays of derived types, their elements and sections
    use shapes
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    type(body) :: b(3)
    type(point), allocatable :: p(:)
    integer :: i
    allocate(p(0:3))
    do i = 0, 3
      p(i)%x = x(i + 1)
      p(i)%y = i
    end do
    p(1:2)%y = p(2:3)%x * p(0:1)%x
    call swap(p(0), p(3))
    do i = 1, 3
      b(i)%centre = middle(p(i - 1), p(i))
      b(i)%w(1) = x(i)
      call b(i)%moved(x(5), dy=x(6))
    end do
    b(2)%p = pair(x(2), [x(1), x(2), x(3)])
    b(1)%n = 2
    y(1) = b(1)%weigh(2.0d0)
    y(2) = b(2)%weigh(x(1))
    y(3) = sum(b%centre%x) + sum(b(2:)%w(1))
    y(4) = p(0)%x * p(3)%y
    y(5) = sum(p%y) + size(p) + lbound(p, 1)
    b(3) = b(2)
    b(2)%w = 0
    y(6) = b(3)%weigh(1.0d0) + b(2)%weigh(1.0d0)
  end subroutine structure_arrays

  subroutine structure_values(x, y) ! derived types | assignment, constructors, and functions with such values
    use shapes
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    type(point) :: p, q
    type(body) :: b, c
    p = point(x(1), y=x(2))
    p = point(p%y, p%x)
    q = middle(p, point_of(x(3)))
    call swap(p, q)
    b = spread_out(p)
    c = b
    c%w(1) = 5
    b%p%b = c%w * b%p%b
    y(1) = p%x + 2 * q%x
    y(2) = p%y * q%y
    y(3:5) = b%w
    y(6) = c%weigh(x(4)) + b%weigh(x(4))
  contains
    type(point) function point_of(v)
      real(8), intent(in) :: v
      point_of%x = v
      point_of%y = v**2
    end function point_of
  end subroutine structure_values

  subroutine allocatable_components(x, y) ! derived types | allocatable components
    use shapes
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    type(series) :: s, t
    integer :: i
    do i = 1, 3
      call grow(s, x * i)
    end do
    t = s
    t%v(0) = 10
    t%m(2, 1) = t%m(1, 3) * x(2)
    deallocate(s%v)
    call grow(s, x)
    y(1) = t%v(-1) + t%v(0) * t%v(1)
    y(2) = t%length + s%length
    y(3) = sum(t%m)
    y(4) = sum(s%m(:, 2))
    y(5) = sum(s%v(:)) + lbound(t%v, 1)
    if (allocated(t%m)) y(6) = size(t%m, 2) * x(6)
  end subroutine allocatable_components

  subroutine module_structures(x, y) ! derived types | variables of modules of a derived type
    use store, only: dp, kept
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    kept%a = kept%a + x(1)
    call change
    y(1) = kept%a
    y(2:4) = kept%b
    y(5) = sum(kept%b) * kept%a
  contains
    subroutine change
      kept%b(2:) = kept%b(:2) * x(2)
      kept%a = kept%a**2
    end subroutine change
  end subroutine module_structures

  subroutine associated_names(x, y) ! sharing | `associate` with components, sections and expressions
    use shapes
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    type(body) :: b(2)
    integer :: i
    b(1)%centre = point(x(1), x(2))
    i = 2
    associate (c => b(1)%centre, w => b(2)%w, top => y(1:3), n => i + 1, s => x(2) * x(3), k => i)
      c%x = c%x * 2
      w(0) = s
      w(n - 1) = c%y
      k = 1
      top(n) = s + n
      top(1) = k
      associate (inner => c%x)
        inner = inner + s
      end associate
    end associate
    y(2) = b(i)%centre%x
    y(4:6) = b(2)%w
  end subroutine associated_names

  subroutine blocks(x, y) ! sharing | `block` with variables of its own
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    integer :: i
    do i = 1, 3
      block
        real(8) :: i, t(2)
        i = x(1)
        t = x(2:3) * i
        y(4:5) = y(4:5) + t
      end block
      y(i) = x(i) * i
    end do
  end subroutine blocks

  subroutine changing_functions(x, y) ! calls | functions that change their arguments and variables around them
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    real(8) :: state, taken
    integer :: calls
    state = x(1)
    calls = 0
    y(1) = next(taken) + 10
    y(2) = taken
    y(3) = 2 * next(y(4)) * x(2)
    y(5) = state
    y(6) = calls
  contains
    real(8) function next(before)
      real(8), intent(out) :: before
      before = state
      state = state * x(3) + 1
      calls = calls + 1
      next = state
    end function next
  end subroutine changing_functions

  subroutine generic_names(x, y) ! calls | generic names, and interfaces of routines that are in no module
    use overloads
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    real(8), external :: outer_mean
    interface
      subroutine outer_scale(v, n, by)
        integer, intent(in) :: n
        real(8), intent(inout) :: v(n)
        real(8), intent(in) :: by
      end subroutine outer_scale
    end interface
    y(1) = size_of(x(1))
    y(2) = size_of(x)
    y(3) = size_of(3)
    y(4:6) = x(1:3)
    call outer_scale(y(4), 2, x(4))
    y(3) = y(3) + outer_mean(x, 6)
    call negate(y(5))
    call negate(y(1:2))
  end subroutine generic_names

  subroutine formulas(x, y) ! calls | statement functions
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    real(8) :: quadratic, twice, t, a, offset
    integer :: i, j, half
    quadratic(t, a) = a * t**2 + offset
    twice(t) = 2 * quadratic(t, 1d0) - i
    half(j) = j / 2
    offset = x(1)
    i = 3
    t = 100
    y(1) = quadratic(x(2) + 1, x(3))
    offset = offset + 1
    y(2) = twice(x(4) - x(5))
    y(3) = half(i) + half(-i)
    y(4) = t * twice(0.5d0)
  end subroutine formulas

  subroutine foralls(x, y) ! arrays | `forall`
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    real(8) :: a(3, 2)
    integer :: i, j
    i = 7
    a = 0
    forall (i = 1:3, j = 1:2, i /= j) a(i, j) = x(i) * x(j + 3)
    forall (i = 1:2)
      a(i, i) = x(i)
      y(i) = sum(a(:, i))
    end forall
    y(3:5) = a(:, 1)
    y(6) = i + a(3, 2)
  end subroutine foralls

  subroutine same_routines(x, y) ! calls | routines of the same name in several modules
    use first_half, only: half_first => apply
    use second_half, only: half_second => apply
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    y(1:3) = x(1:3)
    y(4:6) = x(4:6)
    call half_first(y(1:3))
    call half_second(y(4:6))
    call half_second(y(2:2))
    y(3) = y(3) * ready_value(x(1)) + ready_value(x(2))
  end subroutine same_routines

  real(8) function ready_value(v)
    use first_half, only: prepare, table
    real(8), intent(in) :: v
    call prepare(v)
    ready_value = sum(table)
  end function ready_value

  subroutine structure_arguments(x, y) ! derived types | as arguments that are only results, and arrays that are declared smaller
    use shapes
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    type(body) :: b
    type(point) :: p(4)
    integer :: i
    b%n = 7
    b%p%a = 9
    b%centre = point(x(1), x(2))
    call renew(b, x(3))
    y(1) = b%n + b%p%a + b%centre%x
    y(2) = b%w(2) + sum(b%p%b)
    do i = 1, 4
      p(i) = point(x(i), i * x(5))
    end do
    y(3) = total(2, p)
    y(4) = total(2, p(2:))
    call stretch(3, p(1:3), x(6))
    y(5) = sum(p%x)
    y(6) = sum(p%y)
  contains
    subroutine renew(b, v)
      type(body), intent(out) :: b
      real(8), intent(in) :: v
      b%centre%x = v
    end subroutine renew
    real(8) function total(n, q)
      integer, intent(in) :: n
      type(point), intent(in) :: q(n)
      total = sum(q%x) + sum(q%y)
    end function total
    subroutine stretch(n, q, by)
      integer, intent(in) :: n
      type(point), intent(inout) :: q(n)
      real(8), intent(in) :: by
      q%x = q%x * by
      q(2)%y = q(1)%x
      if (size(q) == 3) q(3) = point(by, 0d0)
    end subroutine stretch
  end subroutine structure_arguments

  subroutine concurrent_counters(x, y) ! control flow | counters of `do concurrent`, which have no value after it
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    integer :: i
    i = 5
    do concurrent (i = 1:3)
      y(i) = x(i) * i
    end do
    y(i) = x(i) + i
    counter = 4
    do concurrent (counter = 1:2)
      y(6) = x(1)
    end do
    y(4) = counter
  end subroutine concurrent_counters

  subroutine undeclared_names(x, y) ! sharing | names without a declaration that a routine and one in it have
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    call undeclared(x, y)
  end subroutine undeclared_names

  subroutine mask_variables(x, y) ! arrays | masks that are variables, and arrays in parentheses as arguments
    use store, only: slope
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    logical :: m(6)
    m = x > 0.5d0
    where (m)
      y = x**2
      m = x > 1
    elsewhere
      y = -x
    end where
    if (all(m .eqv. x > 1)) y(1) = y(1) + 1
    slope = x(1:3)
    call spread_slope((slope))
    y(4:6) = slope
  contains
    subroutine spread_slope(v)
      real(8), intent(in) :: v(3)
      integer :: i
      do i = 1, 3
        slope(i) = v(1) + v(i)
      end do
    end subroutine spread_slope
  end subroutine mask_variables

  subroutine passed_routines(x, y) ! calls | routines as arguments, also those inside, with the variables around them
    use solvers_by_routine
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    real(8) :: rate, state(2)
    integer :: calls
    rate = x(1)
    calls = 0
    state = x(2:3)
    call march(decay, state, 0.1d0, 3)
    y(1:2) = state
    call march(spin, state, 0.2d0, 2)
    y(3:4) = state
    y(5) = root(shifted_square, 1.0d0 + x(6)) + root(f=cubic, guess=2.0d0)
    y(6) = calls
    call apply_twice(scale_it, y(6))
  contains
    subroutine decay(s, ds)
      real(8), intent(in) :: s(:)
      real(8), intent(out) :: ds(:)
      ds = -rate * s
      calls = calls + 1
    end subroutine decay
    real(8) function shifted_square(v)
      real(8), intent(in) :: v
      shifted_square = v**2 - rate - 1
    end function shifted_square
    subroutine scale_it(v)
      real(8), intent(inout) :: v
      v = v * x(3) + rate
    end subroutine scale_it
  end subroutine passed_routines

  subroutine structure_constants(x, y) ! derived types | constants and first values of a derived type
    use shapes, only: point, pair, body
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6)
    type(point), parameter :: origin = point(0.5d0, y=-1), corners(3) = [point(1, 2), point(3d0, 4), point(5, 6)]
    type(pair), parameter :: fixed = pair(b=[3d0, 2d0, 1d0])
    type(pair), save :: grown = pair(2d0, 1d0)
    type(point) :: p
    integer :: i
    p = origin
    y(1) = p%x * x(1) + p%y
    do i = 1, 3
      y(2) = y(2) + corners(i)%x * corners(4 - i)%y * x(i)
      p = corners(i)
      y(3) = y(3) + p%x * x(2)
    end do
    y(4) = sum(fixed%b * x(1:3)) * fixed%a
    grown%b = grown%b + fixed%b * x(4)
    grown%a = grown%a + distance(origin, corners(2))
    y(5) = grown%b(2) * grown%a
    y(6) = sum(corners%x)
  contains
    real(8) function distance(a, b)
      type(point), intent(in) :: a, b
      distance = sqrt((a%x - b%x)**2 + (a%y - b%y)**2)
    end function distance
  end subroutine structure_constants

  subroutine pointers(x, y) ! arrays | pointers to arrays and sections, also swapped in loops and as components
    use levels
    real(8), intent(in) :: x(6)
    real(8), intent(inout), target :: y(6)
    real(8), pointer :: p(:) => null()
    real(8), pointer :: q(:, :)
    type(view) :: v
    integer :: k
    y(1) = 1
    if (.not. associated(p)) y(1) = 2
    call start(x(1:3))
    do k = 1, 3
      call advance(x(4))
    end do
    y(4:6) = now
    p => y(2:3)
    p = x(1:2) * 2
    p(2) = p(2) + y(2)
    allocate(q(2, 0:1))
    q = x(5)
    q(2, 0) = x(6)
    p => q(:, 0)
    y(1) = y(1) + sum(p) * lbound(q, 2) + p(2)
    v%row => storage(:, 1)
    v%row(2) = v%row(2) * x(3)
    y(6) = y(6) + storage(2, 1) + now(2)
    nullify(p)
    p => now
    y(5) = y(5) + p(3)
  end subroutine pointers

  subroutine everything_shared(x, y)
    real(8), intent(in) :: x(6)
    real(8), intent(inout) :: y(6, 26)
    call module_variables(x, y(:, 1))
    call module_arrays(x, y(:, 2))
    call same_names(x, y(:, 3))
    call kept_values(x, y(:, 4))
    call host_variables(x, y(:, 5))
    call module_counters(x, y(:, 6))
    call common_blocks(x, y(:, 7))
    call components(x, y(:, 8))
    call structure_arrays(x, y(:, 9))
    call structure_values(x, y(:, 10))
    call allocatable_components(x, y(:, 11))
    call module_structures(x, y(:, 12))
    call associated_names(x, y(:, 13))
    call blocks(x, y(:, 14))
    call changing_functions(x, y(:, 15))
    call generic_names(x, y(:, 16))
    call formulas(x, y(:, 17))
    call foralls(x, y(:, 18))
    call same_routines(x, y(:, 19))
    call structure_arguments(x, y(:, 20))
    call concurrent_counters(x, y(:, 21))
    call undeclared_names(x, y(:, 22))
    call mask_variables(x, y(:, 23))
    call passed_routines(x, y(:, 24))
    call structure_constants(x, y(:, 25))
    call pointers(x, y(:, 26))
  end subroutine everything_shared

  subroutine weighed_shared(x, w, total)
    real(8), intent(in) :: x(6), w(6, 26)
    real(8), intent(out) :: total
    real(8) :: y(6, 26)
    y = 0
    call everything_shared(x, y)
    total = sum(w * y)
  end subroutine weighed_shared
end module shared_constructs
