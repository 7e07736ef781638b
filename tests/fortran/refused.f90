! Fortran that is not read. A line that starts with `!=` names a construct, and the line that is refused says after
! `! <-` a part of the message.

!= `goto`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  goto 10  ! <- a jump by `goto`
10 continue
end subroutine s

!= `if` with three labels
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  if (i) 10, 10, 10  ! <- an `if` with three labels
10 continue
end subroutine s

!= `equivalence`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  equivalence (a, b)  ! <- storage that two names share
  y = x
end subroutine s

!= recursion
recursive subroutine s(n, x, y)  ! <- is recursive
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y = x
end subroutine s

!= recursion through calls
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  call s(n, x, y)  ! <- `s` calls itself
end subroutine s

!= `read`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  read (5, *) x  ! <- input and output
end subroutine s

!= texts
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  character(4) :: z
  z = 'ab'  ! <- the text `z`
  y = x
end subroutine s

!= `select case` of reals
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  select case (x(1))
  case (1)  ! <- `select case` of a real(8)
  y = x
  end select
end subroutine s

!= lines of a preprocessor
#ifdef A  ! <- a line of a preprocessor
#endif
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y = x
end subroutine s

!= text that is no Fortran
subroutine s(x)
  x = = 1  ! <- this is no Fortran
end subroutine s

!= modules of other files
subroutine s(x)
  use other  ! <- the module `other`
end subroutine s

!= routines of other files
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  call other(x)  ! <- the subroutine `other`
end subroutine s

!= unknown functions
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y(1) = other(x)  ! <- `other` is no array
end subroutine s

!= quadruple precision
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  real(16) :: z  ! <- real numbers of the kind 16
  y = x
end subroutine s

!= names without a declaration
subroutine s(x)
  implicit none
  real :: x
  x = z  ! <- `z` is not declared
end subroutine s

!= elements for arrays with several axes
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  call t(x(2))  ! <- `x(2)` is a real(8), and the argument `v` has 2 axes
end subroutine s
subroutine t(v)
  real(8) :: v(1, 2)
  v = 1
end subroutine t

!= arguments of another kind
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  call t(1.0)  ! <- the argument `v` a real(8)
end subroutine s
subroutine t(v)
  real(8) :: v
end subroutine t

!= values for arrays that are changed
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  call t(2 * x)  ! <- it is no variable
end subroutine s
subroutine t(v)
  real(8) :: v(:)
  v = 1
end subroutine t

!= functions of numbers called with arrays
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y = t(x)  ! <- has 0 axes
end subroutine s
real(8) function t(v)
  real(8), intent(in) :: v
  t = v
end function t

!= assignments to what is only read
subroutine s(x, z)
  real :: x
  real, intent(in) :: z
  x = z
  z = 1  ! <- an argument with intent(in)
end subroutine s

!= integers to powers that may be negative
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  i = i**n  ! <- whose exponent may be negative
end subroutine s

!= a step of 0
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  do i = 1, n, 0  ! <- the step of this loop is 0
  y(i) = 1
  end do
end subroutine s

!= counters that are real
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  do z = 1, 2  ! <- the counter `z` is no integer
  y = z
  end do
end subroutine s

!= `where` in `where`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  where (x > 0)
  where (x > 1)  ! <- a `where` in another one
  y = 1
  end where
  end where
end subroutine s

!= types in array constructors
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y = [real(8) :: 1, 2]  ! <- a type in an array constructor
end subroutine s

!= strides that are not known
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y(1:n:n) = 0  ! <- must be known when the program is compiled
end subroutine s

!= `ubound` of all axes
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y(1) = sum(ubound(x))  ! <- without an axis
end subroutine s

!= allocation with several lower bounds
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  real, allocatable :: z(:)
  allocate (z(n))  ! <- different lower bounds
  deallocate (z)
  allocate (z(0:n))
end subroutine s

!= arrays of different ranks
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y = x + reshape(x, [1, n])  ! <- joins
end subroutine s

!= loops that share their last statement
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  do 10 i = 1, n
  do 10 j = 1, n  ! <- loops that share their last statement
10 y(i) = y(i) + x(j)
end subroutine s

!= arrays of texts
subroutine s(x)
  real(8) :: x
  character(4) :: names(3)  ! <- an array of texts
  x = 1
end subroutine s

!= common blocks with other variables
subroutine s(x)
  real(8) :: x, z
  common /c/ z
  z = 1
  call t(x)
end subroutine s
subroutine t(x)
  real(8) :: x
  common /c/ z  ! <- `z` of the common block `c` has another type or shape
  x = z
end subroutine t

!= `data` for elements
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  real(8) :: z(3)
  data z(1) /1.0/  ! <- `z(1)` in a data statement
  y = x
end subroutine s

!= types of other files
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  type(t) :: z  ! <- the type `t` is not known here
  y = x
end subroutine s

!= types that extend others
subroutine s(x)
  type :: base
    real(8) :: a
  end type base
  type, extends(base) :: grid  ! <- a type that extends another one
    real(8) :: dx
  end type grid
  real(8) :: x
  x = 1
end subroutine s

!= arrays of types with allocatable components
subroutine s(x)
  type :: column
    real(8), allocatable :: t(:)  ! <- an array of a type with the allocatable component `t`
  end type column
  type(column) :: c(3)
  real(8) :: x
  x = 1
end subroutine s

!= components that there are not
subroutine s(x)
  type :: grid
    real(8) :: dx
  end type grid
  type(grid) :: g
  real(8) :: x
  x = g%dy  ! <- `g` has no component `dy`
end subroutine s

!= derived types where a number is needed
subroutine s(x)
  type :: grid
    real(8) :: dx
  end type grid
  type(grid) :: g
  real(8) :: x
  x = g + 1  ! <- `g` of a derived type
end subroutine s

!= derived types from others
subroutine s(x)
  type :: grid
    real(8) :: dx
  end type grid
  type(grid) :: g
  real(8) :: x
  g = 1  ! <- assigns what is no variable, function or constructor of the derived type
  x = g%dx
end subroutine s

!= variables of modules that are passed to what changes them
module m
  real(8) :: z = 1
contains
  subroutine s(x)
    real(8) :: x
    call t(z)  ! <- `z` is passed to `t`, which uses it as a variable around it, too
    x = z
  end subroutine s
  subroutine t(v)
    real(8) :: v
    v = v + z
  end subroutine t
end module m

!= variables of modules that are allocated with several lower bounds
module m
  real(8), allocatable :: z(:)
contains
  subroutine s(x)
    real(8) :: x
    allocate (z(0:3))  ! <- different lower bounds
    z = 1
    x = z(0)
  end subroutine s
  subroutine t
    allocate (z(3))
  end subroutine t
end module m

!= assignments that give other lower bounds
subroutine s(x)
  real(8) :: x, a(0:2)
  real(8), allocatable :: b(:)
  a = x
  b = [x, x]
  b = a  ! <- gives `b` the lower bounds 0
  x = b(1)
end subroutine s

!= allocatable arguments with other lower bounds
module m
contains
  subroutine s(x)
    real(8) :: x
    real(8), allocatable :: z(:)
    allocate (z(0:3))
    z = x
    call t(z)  ! <- `z` has the lower bounds 0, and `v` 1
    x = z(0)
  end subroutine s
  subroutine t(v)
    real(8), allocatable, intent(inout) :: v(:)
    v(1) = 2
  end subroutine t
end module m

!= elements that `associate` names, and that change
subroutine s(x)
  real(8) :: x(3)
  integer :: i
  i = 1
  associate (y => x(i))  ! <- which the assignment to `i` would change
    i = 2
    y = 1
  end associate
end subroutine s

!= variables of a `block` that keep their value
subroutine s(x)
  real(8) :: x
  block
    real(8) :: z = 1  ! <- `z` in a block
    x = z
  end block
end subroutine s

!= texts that are written
subroutine s(x)
  real(8) :: x
  character(10) :: z
  write (z, '(i3)') 3  ! <- input and output
  x = 1
end subroutine s

!= what a module declares by unsupported statements, where it is used
module m
  real(8), pointer :: z  ! <- `z` is a pointer to no array of numbers
  real(8), parameter :: half = 0.5d0
end module m
subroutine s(x)
  use m, only: z, half
  real(8) :: x
  x = half * z
end subroutine s

!= `forall` of what it changes
subroutine s(n, x)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  integer :: i
  forall (i = 2:n) x(i) = x(i - 1)  ! <- `x(i)` in a `forall` is computed from other elements
end subroutine s

!= operators for derived types
subroutine s(x)
  real(8) :: x
  interface operator(+)  ! <- `OPERATOR(+)` for derived types
    module procedure add
  end interface
  x = 1
end subroutine s

!= assignments to what is no array
subroutine s(x)
  real(8) :: x
  integer :: i
  x = 1
  f(i) = 2 * i  ! <- `f` is no array
end subroutine s

!= generic names of which no routine fits
module m
  interface set
    module procedure set_i, set_n
  end interface
contains
  subroutine s(x)
    real(8) :: x
    call set(x)  ! <- none of set_i, set_n has arguments like those
  end subroutine s
  subroutine set_i(i)
    integer :: i
    i = 1
  end subroutine set_i
  subroutine set_n(i)
    integer :: i(:)
    i = 1
  end subroutine set_n
end module m

!= functions that change something, in conditions
module m
  real(8) :: z = 1
contains
  subroutine s(x)
    real(8) :: x
    x = 1
    do while (next() < 5)  ! <- the function `next` changes its arguments or variables around it
      x = x + 1
    end do
  end subroutine s
  real(8) function next()
    z = z + 1
    next = z
  end function next
end module m

!= routines that have the names of intrinsic functions
subroutine s(x)
  real(8) :: x
  x = gamma(x)  ! <- `gamma` is an intrinsic function, and a routine of these files
end subroutine s
real(8) function gamma(x)
  real(8), intent(in) :: x
  gamma = x
end function gamma

!= shared variables that are lower bounds, and change
module m
  integer :: first = 2
contains
  subroutine s(x)  ! <- `first` is a lower bound of an array of `s`, and is changed
    real(8) :: x, a(first:5)
    a = x
    call move
    x = a(4)
  end subroutine s
  subroutine move
    first = first + 1
  end subroutine move
end module m

!= routines as arguments from outside
subroutine s(f, x)  ! <- the routine `f` as an argument from outside
  external f
  real(8) :: x
  call f(x)
end subroutine s

!= routines as arguments that are not known
subroutine s(x)
  real(8) :: x
  external g
  call t(g, x)  ! <- passes `g` as the routine `f`, and it is none that is known here
end subroutine s
subroutine t(f, x)
  external f
  real(8) :: x
  call f(x)
end subroutine t

!= constants of a derived type that are written in another way
subroutine s(x)
  type :: grid
    real(8) :: dx(2)
  end type grid
  type(grid), parameter :: g(2) = [grid(1), grid(2)]  ! <- the component `dx`
  real(8) :: x
  x = g(1)%dx(1)
end subroutine s

!= pointers to numbers and derived types
subroutine s(x)
  type :: node
    real(8) :: v
  end type node
  type(node), pointer :: p  ! <- `p` is a pointer to no array of numbers
  real(8) :: x
  x = 1
end subroutine s

!= pointers to what assignments allocate
subroutine s(x)
  real(8) :: x
  real(8), allocatable, target :: a(:)
  real(8), pointer :: p(:)
  a = [x, x]
  p => a  ! <- points at an array that assignments allocate
  a = a + 1
  x = p(1)
end subroutine s

!= pointers with bounds of their own
subroutine s(x)
  real(8), target :: x(3)
  real(8), pointer :: p(:)
  p(0:) => x  ! <- the bounds in
  p(0) = 1
end subroutine s

!= pointers to expressions
subroutine s(x)
  real(8), target :: x(3)
  real(8), pointer :: p(:)
  p => x(1)  ! <- points at a real(8)
  p(1) = 1
end subroutine s

!= pointing by what is no pointer
subroutine s(x)
  real(8), target :: x(3)
  real(8) :: p(3)
  p => x  ! <- `p` is no pointer to an array
end subroutine s

!= allocation without a shape
subroutine s(x)
  real(8) :: x
  real(8), allocatable :: z(:)
  allocate (z, stat=i)  ! <- gives no shape
  x = 1
end subroutine s

!= storage of what is not allocatable
subroutine s(x)
  real(8) :: x, z(3)
  deallocate (z)  ! <- `z` is no allocatable array
  x = 1
end subroutine s

!= lower bounds of allocations that are no numbers
subroutine s(x)
  real(8) :: x
  real(8), allocatable :: z(:)
  integer :: n
  n = 3
  allocate (z(n:5))  ! <- has a lower bound that is no number
  x = 1
end subroutine s

!= fixed arrays as allocatable arguments
module m
contains
  subroutine s(x)
    real(8) :: x, z(3)
    z = x
    call t(z)  ! <- `z` is passed as `v`, and is not allocatable
    x = z(1)
  end subroutine s
  subroutine t(v)
    real(8), allocatable, intent(inout) :: v(:)
    v(1) = 2
  end subroutine t
end module m

!= numbers that are changed in two ways
module m
contains
  subroutine s(x)
    real(8) :: x
    call t(x, x)  ! <- the call changes `x` in two ways
  end subroutine s
  subroutine t(a, b)
    real(8) :: a, b
    a = 1
    b = 2
  end subroutine t
end module m

!= elements whose index the call changes
module m
contains
  subroutine s(x)
    real(8) :: x(3)
    integer :: i
    i = 1
    call t(x(i), i)  ! <- the call changes what `x[i - 1]` is
  end subroutine s
  subroutine t(a, i)
    real(8) :: a
    integer :: i
    a = 1
    i = 2
  end subroutine t
end module m

!= routines that a type has not
module m
  type :: grid
    real(8) :: dx
  end type grid
contains
  subroutine s(x)
    type(grid) :: g
    real(8) :: x
    call g%step()  ! <- `g % step` has no routine `step`
    x = g%dx
  end subroutine s
end module m

!= routines of a type that do not take it
module m
  type :: grid
    real(8) :: dx
  contains
    procedure, nopass :: step  ! <- is not supported
  end type grid
contains
  subroutine s(x)
    type(grid) :: g
    real(8) :: x
    x = g%dx
  end subroutine s
  subroutine step()
  end subroutine step
end module m

!= generic names of a type
module m
  type :: grid
    real(8) :: dx
  contains
    procedure :: step
    generic :: go => step  ! <- in a type is not supported
  end type grid
contains
  subroutine s(x)
    type(grid) :: g
    real(8) :: x
    x = g%dx
  end subroutine s
  subroutine step(self)
    class(grid) :: self
  end subroutine step
end module m

!= constructors without all values
subroutine s(x)
  type :: grid
    real(8) :: dx, dy
  end type grid
  type(grid) :: g
  real(8) :: x
  g = grid(x)  ! <- has no value for `dy`
  x = g%dy
end subroutine s

!= constructors with components of a derived type
subroutine s(x)
  type :: point
    real(8) :: x
  end type point
  type :: grid
    type(point) :: p
  end type grid
  type(grid) :: g
  real(8) :: x
  g = grid(point(x))  ! <- the component `p` in
  x = g%p%x
end subroutine s

!= `where` in `forall`
subroutine s(x)
  real(8) :: x(3, 3)
  integer :: i
  forall (i = 1:3)
    where (x(:, i) > 0) x(:, i) = 1  ! <- in a `forall` is not supported
  end forall
end subroutine s

!= `associated` with a target
subroutine s(x)
  real(8), target :: x(3)
  real(8), pointer :: p(:)
  p => x
  if (associated(p, x)) p(1) = 1  ! <- with a target
end subroutine s

!= elemental functions of arrays that change something
module m
  real(8) :: z = 1
contains
  subroutine s(x)
    real(8) :: x(3)
    x = next(x)  ! <- the elemental function `next` changes something else
  end subroutine s
  impure elemental real(8) function next(v)
    real(8), intent(in) :: v
    z = z + 1
    next = z * v
  end function next
end module m

!= `data` with too few values
subroutine s(x)
  real(8) :: x, z(3)
  data z /2*1.0/  ! <- has not enough values
  x = z(1)
end subroutine s

!= constants of variables
module m
  integer :: n = 3
  integer, parameter :: k = n  ! <- `n` is no constant
contains
  subroutine s(x)
    real(8) :: x
    x = k
  end subroutine s
end module m
