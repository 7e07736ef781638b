// The emulated device by itself, for arrays that are made before, or without, a program that runs on it.
#include "emulated.h"
