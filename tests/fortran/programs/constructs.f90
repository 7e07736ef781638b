! One subroutine for each construct, each of them of six numbers: y is computed from x, and what is not assigned is 0.
module numbers
  implicit none
  integer, parameter :: dp = selected_real_kind(15, 307), sp = kind(1.0), count_of = 3 * 2
  ! What is not read matters only where it is used.
  type unused
    real(dp) :: component
  end type unused
  real(dp), pointer :: unused_pointer(:)
  real(dp), save :: unused_state
  real(dp), parameter :: pi = 4.0_dp * atan(1.0_dp), weights(3) = [1.0_dp, 2.0_dp, 4.0_dp], tiny_step = 0.1
end module numbers

module others
  use, intrinsic :: iso_fortran_env, only: wp => real64
  implicit none
contains
  elemental function square(v) result(s)
    real(wp), intent(in) :: v
    real(wp) :: s
    s = v * v
  end function square

  real(wp) function tail(v, from)
    real(wp), intent(in) :: v(:)
    integer, intent(in), optional :: from
    integer :: first
    first = 2
    if (present(from)) first = from
    tail = sum(v(first:))
  end function tail

  function doubled(v) result(r)
    real(wp), intent(in) :: v(0:)
    real(wp) :: r(0:size(v) - 1)
    integer :: i
    do i = lbound(v, 1), ubound(v, 1)
      r(i) = 2 * v(i)
    end do
  end function doubled

  subroutine swap(a, b)
    real(wp), intent(inout) :: a, b
    real(wp) :: kept
    kept = a
    a = b
    b = kept
  end subroutine swap

  subroutine shift_all(v, by)
    real(wp), intent(inout) :: v(:)
    real(wp), intent(in) :: by
    v = v + by
  end subroutine shift_all

  subroutine early(v, limit, found)
    real(wp), intent(in) :: v(:), limit
    integer, intent(out) :: found
    integer :: i
    found = 0
    do i = 1, size(v)
      if (v(i) > limit) then
        found = i
        return
      end if
    end do
  end subroutine early

  subroutine scale_first(n, v, w, by)
    integer, intent(in) :: n
    real(wp), intent(inout) :: v(n)
    real(wp), intent(in) :: w(*), by
    v = v * by + w(n)
  end subroutine scale_first

  subroutine halve(v, by)
    real(wp), intent(inout) :: v
    real(wp), value :: by
    by = by + 1
    v = v / by
  end subroutine halve

  subroutine negate_columns(m, n, a)
    integer, intent(in) :: m, n
    real(wp), intent(inout) :: a(m, n)
    a = -a
  end subroutine negate_columns
end module others

module constructs
  use numbers
  use others, only: square, tail, doubled, exchange => swap, shift_all, early, scale_first, negate_columns, halve
  implicit none
contains

  subroutine loop_up(x, y) ! control flow | `do` upwards
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 2, 6
      y(i) = y(i-1) + x(i)**2
    end do
  end subroutine

  subroutine loop_down(x, y) ! control flow | `do` downwards
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    y(6) = x(6)
    do i = 5, 1, -1
      y(i) = 0.5_dp * y(i+1) + sin(x(i))
    end do
  end subroutine

  subroutine loop_steps(x, y) ! control flow | `do` in steps, up and down
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6, 2
      y(i) = x(i)**2
    end do
    do i = 6, 1, -3
      y(i) = y(i) + x(i) * x(1)
    end do
  end subroutine

  subroutine loop_empty(x, y) ! control flow | `do` without trips
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 3, 2
      y(1) = 100
    end do
    y(2) = x(2) * i
    do i = 1, 6, -1
      y(1) = 100
    end do
    y(3) = x(3) * i
  end subroutine

  subroutine loop_after(x, y) ! control flow | the counter after its loop
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6, 4
      y(i) = x(i)
    end do
    y(2) = x(2) * i
    do i = 5, 1, -3
      y(i) = y(i) + x(i)
    end do
    y(3) = x(3) * i
  end subroutine

  subroutine loop_fixed(x, y) ! control flow | bounds that change in the loop, which has its trips by then
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i, last, step
    last = 3
    step = 1
    do i = 1, last, step
      last = 6
      step = 2
      y(i) = x(i) * last
    end do
    y(6) = x(6) * i
  end subroutine

  subroutine loop_while(x, y) ! control flow | `do while`
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp) :: z
    z = x(1)
    do while (z < 10)
      z = z * (1 + x(2))
      y(2) = y(2) + 1
    end do
    y(1) = z
  end subroutine

  subroutine loop_forever(x, y) ! control flow | `do` without an end, and `exit`
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: k
    k = 0
    do
      k = k + 1
      if (k > 4) exit
      y(k) = x(k)**k
    end do
    y(6) = k
  end subroutine

  subroutine loop_exit(x, y) ! control flow | `exit` and the counter after it
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6
      if (x(i) > 1.0_dp) exit
      y(i) = x(i)**2
    end do
    y(6) = x(1) * i
    do i = 1, 6
      if (x(i) > 1000.0_dp) exit
    end do
    y(5) = x(1) * i
  end subroutine

  subroutine loop_cycle(x, y) ! control flow | `cycle`
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6
      if (mod(i, 3) == 0) cycle
      y(i) = x(i)**3
    end do
  end subroutine

  subroutine loop_named(x, y) ! control flow | `exit` and `cycle` of an outer loop
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i, j
    rows: do i = 1, 6
      columns: do j = 1, 3
        if (j == 2 .and. mod(i, 2) == 0) cycle rows
        if (i == 5) exit rows
        y(i) = y(i) + x(j) * x(i)
      end do columns
      y(i) = y(i) + 1
    end do rows
  end subroutine

  subroutine loop_label(x, y) ! control flow | `do` with a label
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do 10 i = 1, 6
      y(i) = x(i) * i
10  continue
  end subroutine

  subroutine loop_concurrent(x, y) ! control flow | `do concurrent` with a mask
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do concurrent (i = 1:6, i /= 4)
      y(i) = exp(x(i))
    end do
  end subroutine

  subroutine branches(x, y) ! control flow | `if`, `else if` and `else`
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6
      if (x(i) > 1.5_dp .or. i == 1) then
        y(i) = x(i)**2
      else if (.not. (x(i) < 0) .and. i /= 2) then
        y(i) = -x(i)
      else
        y(i) = 3 * x(i)
      end if
      if (x(i) < 0) y(i) = y(i) * 2
    end do
  end subroutine

  subroutine cases(x, y) ! control flow | `select case` with ranges and a default
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6
      select case (i - 3)
      case default
        y(i) = x(i)
      case (:-2)
        y(i) = 2 * x(i)
      case (0, 2)
        y(i) = 3 * x(i)
      case (3:)
        y(i) = x(i)**2
      end select
    end do
  end subroutine

  subroutine logical_values(x, y) ! control flow | logical variables and operators
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    logical :: a, b
    a = x(1) > 0
    b = x(2) > 100
    if (a .neqv. b) y(1) = x(1)
    if (a .eqv. .not. b) y(2) = x(2)
    if (a .and. .true.) y(3) = x(3)
  end subroutine

  subroutine stops(x, y) ! control flow | `stop` and `error stop`, which raise an error
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    if (x(1) > 100) stop 'x is large'
    if (x(2) > 100) error stop 2
    y = x**2
  end subroutine

  subroutine bounds(x, y) ! arrays | lower bounds other than 1
    real(dp), intent(in) :: x(0:5)
    real(dp), intent(inout) :: y(-2:3)
    real(dp) :: z(-1:4)
    integer :: i
    do i = -1, 4
      z(i) = x(i + 1) * i
    end do
    do i = lbound(y, 1), ubound(y, 1)
      y(i) = z(i + 1)**2
    end do
  end subroutine

  subroutine columns(x, y) ! arrays | two axes, in the order of columns
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp) :: a(2, 3)
    integer :: i, j
    do j = 1, 3
      do i = 1, 2
        a(i, j) = x(i + 2 * (j - 1)) * (i + 10 * j)
      end do
    end do
    y(1) = a(2, 1)
    y(2) = a(1, 3)
    y(3:4) = a(:, 2)
    y(5) = size(a) + size(a, 1) + 100 * size(a, 2)
  end subroutine

  subroutine whole(x, y) ! arrays | statements of whole arrays
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    y = 2 * x + 1
    y = y / (1 + x**2) - 0.5_dp
  end subroutine

  subroutine sections(x, y) ! arrays | sections, also in steps
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    y(2:4) = x(1:3) * x(4:6)
    y(1:6:2) = y(1:6:2) + x(2:6:2)
    y(5:) = y(5:) + x(:2)
  end subroutine

  subroutine sections_down(x, y) ! arrays | sections backwards
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    y(1:6) = x(6:1:-1)
    y(6:2:-2) = y(6:2:-2) + x(1:3)
    y(5:1:-3) = y(5:1:-3) * x(2:1:-1)
  end subroutine

  subroutine sections_overlap(x, y) ! arrays | sections that overlap what they are assigned
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    y = x
    y(2:6) = y(1:5) + y(2:6)
    y(1:5) = y(2:6)
  end subroutine

  subroutine sections_empty(x, y) ! arrays | sections without elements
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6
      y(i) = x(i) + sum(x(1:i-2)) + dot_product(x(1:i-3), x(2:i-2))
    end do
    y(3:2) = 7
    y(1:-1) = 7
  end subroutine

  subroutine vectors(x, y) ! arrays | vectors of subscripts
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: order(6)
    order = [3, 1, 6, 2, 4, 5]
    y = x(order)**2
    y(order(1:2)) = x(1:2)
  end subroutine

  subroutine masked(x, y) ! arrays | `where`, `elsewhere` with masks
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    where (x > 1.4_dp)
      y = sqrt(x)
    elsewhere (x > 0)
      y = x**2
    elsewhere
      y = -x
    end where
    where (y > 1) y = y - x
  end subroutine

  subroutine mask_once(x, y) ! arrays | masks, which are computed once
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    y = x
    where (y > 1)
      y = y - 1
      y = y * 10
    end where
  end subroutine

  subroutine constructors(x, y) ! arrays | array constructors, with implied loops
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    y(1:3) = [x(1), x(2)**2, 3.0_dp]
    y(4:6) = (/ (x(i) * i, i = 1, 3) /)
  end subroutine

  subroutine allocatables(x, y) ! arrays | `allocate`, with lower bounds
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp), allocatable :: z(:), a(:, :)
    allocate(z(0:5), a(2, 3))
    z = x
    a = 1
    a(2, :) = z(0:2)
    y(1:3) = a(2, :) * a(1, :)
    y(4) = z(5) + ubound(a, 2)
    deallocate(z, a)
  end subroutine

  subroutine allocation_by_assignment(x, y) ! arrays | allocation by assignment, `source`, `stat` and `allocated`
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp), allocatable :: a(:), b(:), c(:)
    integer :: status
    a = x(2:4)
    allocate(b(3), source=2 * a, stat=status)
    a = x(1:4)
    if (.not. allocated(c)) allocate(c(size(a)))
    c = a
    y(1:3) = b + status
    y(4) = sum(c) + size(a)
    deallocate(c)
    if (allocated(c)) y(5) = 7
  end subroutine

  subroutine automatic(x, y) ! arrays | local arrays whose sizes are expressions
    real(dp), intent(in) :: x(:)
    real(dp), intent(inout) :: y(:)
    real(dp) :: z(size(x) / 2, 2)
    z(:, 1) = x(1:size(x) / 2)
    z(:, 2) = x(size(x) / 2 + 1:)
    y(1:3) = z(:, 1) * z(:, 2)
  end subroutine

  subroutine quotients(x, y) ! numbers | quotients of integers, toward zero
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i, k
    do i = 1, 6
      k = 7 - 4 * i
      y(i) = x(i) * (k / 3) + (k / (-2)) + (-k) / i + 1 / 2
    end do
  end subroutine

  subroutine remainders(x, y) ! numbers | `mod` and `modulo`
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    do i = 1, 6
      y(i) = x(i) * mod(3 - 2 * i, 4) + modulo(3 - 2 * i, 4) + mod(-7, i) + mod(i, -2)
    end do
    y(1) = y(1) + mod(-7.5_dp * x(1), 2.0_dp)
    y(2) = y(2) + modulo(-7.5_dp * x(2), 2.0_dp)
  end subroutine

  subroutine powers(x, y) ! numbers | powers, of integers and to integers
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    y(1) = -x(1)**2
    y(2) = x(2)**3**2
    y(3) = x(3)**(-2)
    y(4) = 2**3 * x(2)**0.5_dp
    y(5) = (-1)**3 * x(5)
    do i = 1, 3
      y(6) = y(6) + x(6)**(i - 2) * i**2
      y(1) = y(1) + (-1)**(i - 5) * x(i) + 2**(2 - i) * x(1) + (-2)**i
    end do
  end subroutine

  subroutine kinds(x, y) ! numbers | single and double precision
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real :: s
    real(sp) :: t
    s = 0.1
    y(1) = 0.1 * x(1)
    y(2) = s * x(2)
    y(3) = 0.1d0 * x(3) + 1.0 / 3.0
    y(4) = tiny_step * x(4)
    t = 1.0 / 3
    y(5) = x(5) * (s + t * 3) + 1.0d0 / 3
    y(6) = real(pi) * x(6)
  end subroutine

  subroutine conversions(x, y) ! numbers | conversions of reals and integers
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: k
    k = -2.7_dp
    y(1) = x(1) * k
    y(2) = x(2) * int(2.9_dp * x(2)) + nint(-2.5_dp) + nint(0.49999999999999994_dp)
    y(3) = floor(-x(3)) + ceiling(x(3)) + anint(3.5_dp * x(3)) + aint(-3.7_dp)
    y(4) = real(k, dp) / 4 * x(4)
    y(5) = dble(3) / 2 * x(5)
    y(6) = x(6) * (k + 1) / 2
  end subroutine

  subroutine constants(x, y) ! numbers | parameters, also arrays and those of modules
    real(dp), intent(in) :: x(count_of)
    real(dp), intent(inout) :: y(6)
    real(dp), parameter :: half = 0.5_dp, third = half / 1.5_dp
    integer :: i
    y(1) = pi * x(1)
    do i = 1, 3
      y(2) = y(2) + weights(i) * x(i)
    end do
    y(3) = third * x(3)
    y(4) = sum(weights) * x(4)
    y(5) = epsilon(1.0_dp) * x(5) + digits_of(x(5))
  contains
    real(dp) function digits_of(v)
      real(dp), intent(in) :: v
      digits_of = v * half
    end function digits_of
  end subroutine

  subroutine elementary(x, y) ! intrinsics | `sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh` and inverses
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp) :: u
    u = x(1) / 2
    y(1) = sqrt(x(2)) + exp(x(1)) + log(x(3)) + log10(x(2))
    y(2) = sin(x(1)) + cos(x(2)) + tan(x(1))
    y(3) = asin(u) + acos(u) + atan(u)
    y(4) = sinh(u) + cosh(u) + tanh(u) + asinh(u) + acosh(1 + x(2)) + atanh(u)
    y(5) = atan2(x(2), x(1)) + hypot(x(1), x(2))
    y(6) = erf(u) + erfc(u) + gamma(x(2)) + log_gamma(x(2))
  end subroutine

  subroutine extrema(x, y) ! intrinsics | `abs min max sign dim merge`
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    integer :: i
    y(1) = max(x(1), x(2), x(3)) + min(x(4), x(5))
    y(2) = abs(x(4)) + sign(x(2), x(4)) + sign(x(3), -1.0_dp)
    y(3) = dim(x(3), x(1)) + dim(x(1), x(3))
    y(4) = merge(x(1), x(2), x(3) > 1)
    do i = 1, 6
      y(5) = y(5) + max(i - 3, 0) * x(5) + min(i, 2, 4) * abs(i - 4) * sign(1, i - 3)
    end do
    y = y + max(x, 0.5_dp) + merge(x, -x, x > 0)
  end subroutine

  subroutine reductions(x, y) ! intrinsics | `sum product maxval minval any all count maxloc norm2`, with `dim` and masks
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp) :: a(2, 3)
    a = reshape(x, [2, 3])
    y(1:3) = sum(a, dim=1)
    y(4:5) = maxval(a, 2)
    y(6) = product(x) + minval(x) + sum(x, mask=x > 1)
    if (any(x > 1) .and. .not. all(x > 1)) y(1) = y(1) + count(x > 1) + maxloc(x, 1) + norm2(x)
    y(2) = y(2) + sum([1, 2, 3]) + maxval(a) + maxval(x, mask=x < 1.5_dp) - minval(x, mask=x > 0)
  end subroutine

  subroutine products(x, y) ! intrinsics | `matmul transpose dot_product spread reshape cshift`
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp) :: a(2, 3), b(3, 2), c(2, 2), d(3, 3)
    a = reshape(x, (/ 2, 3 /))
    b = transpose(a) + 1
    c = matmul(a, b)
    d = matmul(b, a)
    y(1:2) = matmul(c, x(1:2))
    y(3) = d(1, 3) + c(2, 1)
    y(4:5) = matmul(x(1:3), b)
    y(6) = dot_product(x(1:3), x(4:6))
    y = y + cshift(x, 1) + cshift(x, -2)
    d = spread(x(1:3), 2, 3) * spread(x(4:6), 1, 3)
    y(1) = y(1) + d(1, 3) + 2 * d(2, 1)
  end subroutine

  subroutine complex_numbers(x, y) ! numbers | complex numbers
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    complex(dp) :: z, w
    z = cmplx(x(1), x(2), dp)
    w = (1.0_dp, 2.0_dp) * z + exp(z) / conjg(z)
    y(1) = real(w, dp)
    y(2) = aimag(w)
    y(3) = abs(w)
  end subroutine

  subroutine calls(x, y) ! calls | subroutines that change numbers, elements and sections
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp) :: a
    integer :: where_it_is
    y = x
    a = 2 * x(1)
    call exchange(a, y(2))
    y(1) = a
    call exchange(y(3), y(4))
    call shift_all(y(5:6), by=x(1)**2)
    call shift_all(y(1:6:2), 0.5_dp)
    call early(y, 1.2_dp, where_it_is)
    y(6) = y(6) * where_it_is
    call halve(y(2), a)
    y(3) = y(3) * a
  end subroutine

  subroutine elements_for_arrays(x, y) ! calls | elements that are passed for arrays, and arrays of which the first elements are taken
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    real(dp) :: a(3, 2)
    integer :: j
    y = x
    a = reshape(x, [3, 2])
    call scale_first(2, y(4), x(2), 3.0_dp)
    call scale_first(1, y, x, 2.0_dp)
    do j = 1, 2
      call scale_first(2, a(2, j), a(1, 1), x(j))
    end do
    call negate_columns(3, 1, a)
    y(2:3) = a(2:3, 1) * a(2:3, 2)
  end subroutine

  subroutine functions(x, y) ! calls | functions, with results of their own name, arrays, optional arguments, elemental ones of arrays
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6)
    y(1) = square(x(1)) + square(x(2) + 1)
    y(2) = tail(x) + tail(x, 3) + tail(v=x(2:4), from=1)
    y(3:6) = doubled(x(3:6)) + square(x(1:4) + 1) + power_of(x(1:4), 2.0_dp)
    y(6) = y(6) + halved(x(6))
  contains
    pure function halved(v)
      real(dp), intent(in) :: v
      real(dp) :: halved
      halved = v / 2
    end function halved

    elemental real(dp) function power_of(v, p)
      real(dp), intent(in) :: v, p
      power_of = v
      if (v > 1) power_of = v**p
    end function power_of
  end subroutine

  subroutine everything(x, y)
    real(dp), intent(in) :: x(6)
    real(dp), intent(inout) :: y(6, 45)
    call loop_up(x, y(:, 1))
    call loop_down(x, y(:, 2))
    call loop_steps(x, y(:, 3))
    call loop_empty(x, y(:, 4))
    call loop_after(x, y(:, 5))
    call loop_fixed(x, y(:, 6))
    call loop_while(x, y(:, 7))
    call loop_forever(x, y(:, 8))
    call loop_exit(x, y(:, 9))
    call loop_cycle(x, y(:, 10))
    call loop_named(x, y(:, 11))
    call loop_label(x, y(:, 12))
    call loop_concurrent(x, y(:, 13))
    call branches(x, y(:, 14))
    call cases(x, y(:, 15))
    call logical_values(x, y(:, 16))
    call stops(x, y(:, 17))
    call bounds(x, y(:, 18))
    call columns(x, y(:, 19))
    call whole(x, y(:, 20))
    call sections(x, y(:, 21))
    call sections_down(x, y(:, 22))
    call sections_overlap(x, y(:, 23))
    call sections_empty(x, y(:, 24))
    call vectors(x, y(:, 25))
    call masked(x, y(:, 26))
    call mask_once(x, y(:, 27))
    call constructors(x, y(:, 28))
    call allocatables(x, y(:, 29))
    call allocation_by_assignment(x, y(:, 30))
    call automatic(x, y(:, 31))
    call quotients(x, y(:, 32))
    call remainders(x, y(:, 33))
    call powers(x, y(:, 34))
    call kinds(x, y(:, 35))
    call conversions(x, y(:, 36))
    call constants(x, y(:, 37))
    call elementary(x, y(:, 38))
    call extrema(x, y(:, 39))
    call reductions(x, y(:, 40))
    call products(x, y(:, 41))
    call complex_numbers(x, y(:, 42))
    call calls(x, y(:, 43))
    call elements_for_arrays(x, y(:, 44))
    call functions(x, y(:, 45))
  end subroutine everything

  subroutine weighed(x, w, total)
    real(dp), intent(in) :: x(6), w(6, 45)
    real(dp), intent(out) :: total
    real(dp) :: y(6, 45)
    y = 0
    call everything(x, y)
    total = sum(w * y)
  end subroutine weighed
end module constructs
