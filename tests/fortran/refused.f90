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

!= common blocks
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  common /c/ z  ! <- a common block
  y = x
end subroutine s

!= `equivalence`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  equivalence (a, b)  ! <- storage that two names share
  y = x
end subroutine s

!= `data`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  data z /1.0/  ! <- a data statement
  y = x
end subroutine s

!= `save`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  save z  ! <- kept from call to call
  y = x
end subroutine s

!= variables with an initial value
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  real :: z = 1.0  ! <- keeps what it has from call to call
  y = x
end subroutine s

!= derived types
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  type(t) :: z  ! <- a derived type
  y = x
end subroutine s

!= components
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y(1) = z%a  ! <- `z % a` is not supported
end subroutine s

!= pointers
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  real, pointer :: z(:)  ! <- the attribute `pointer`
  y = x
end subroutine s

!= pointer assignment
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  z => x  ! <- a pointer
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

!= `print` and `write`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  print *, x  ! <- input and output
end subroutine s

!= `read`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  read (5, *) x  ! <- input and output
end subroutine s

!= `forall`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  forall (i = 1:n) y(i) = x(i)  ! <- a `forall`
end subroutine s

!= `associate`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  associate (z => x(1))  ! <- an `associate`
  y = z
  end associate
end subroutine s

!= `block`
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  block  ! <- a `block`
  integer :: k
  k = 1
  end block
end subroutine s

!= interface blocks
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  interface  ! <- an interface block
  subroutine f()
  end subroutine f
  end interface
  y = x
end subroutine s

!= statement functions
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  f(i) = 2 * i  ! <- `f` is no array
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

!= functions that change their arguments
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n)
  integer :: i
  y(1) = t(x(1))  ! <- changes its arguments: v
end subroutine s
real(8) function t(v)
  real(8) :: v
  v = 1
  t = v
end function t

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

!= variables of modules
module m
  real(8) :: z = 1
contains
  subroutine s(x)
    real(8) :: x
    x = z  ! <- a variable of a module
  end subroutine s
end module m

!= variables of the routine around
subroutine s(x)
  real(8) :: x, z
  x = 1
  call t(x)
contains
  subroutine t(v)
    real(8) :: v
    v = z  ! <- a variable of the routine around
  end subroutine t
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

!= what a module declares by unsupported statements, where it is used
module m
  type grid  ! <- a derived type is not supported
    real(8) :: dx
  end type grid
  real(8), pointer :: z(:)
  real(8), parameter :: half = 0.5d0
  save
end module m
subroutine s(x)
  use m, only: grid, half
  real(8) :: x
  x = half * grid
end subroutine s
