// Header of generated kernels: the functions of generated code, as on the CPU, in device code that NVRTC compiles.
//
// NVRTC has no standard library. The folder `std` has the little of it that the CPU's headers use, by CUDA's own
// functions where there are some.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include "integer_bessel.h"
#include "sdfgad.h"
#undef jn
#undef yn
