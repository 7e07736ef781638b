"""Target description (machine model): what passes, schedules and the code generator assume of the machine.

The numbers are those of today's x86-64 processors, AMD's and Intel's, as measured on several; they change the speed of
what is generated, and how sums are rounded, but nothing else. Tests set `CPU`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A machine.

    Attributes:
        local_bytes: a temporary of at most so many bytes is a local variable, of its own for each thread.
        stack_bytes: those of one statement must fit into a thread's stack, which may have no more than 2 MiB.
        cache_bytes: an array of at most so many bytes is still in a core's own cache when it is read.
        last_cache_bytes: from so many bytes on, what a call holds is more than a cache keeps until its next use.
        streamed_bytes: results of fewer bytes are not worth stores past the cache.
        strip: elements of a row that are stored past the cache at once; rows of several arrays stay in the first cache.
        streamed_trips: of shorter loops, the lines that are not whole are too large a part.
        updated_elements: an update of at least so many elements is computed where it is read, instead of being stored.
        quotient_cycles, function_cycles: processor cycles of a quotient, and of a function such as exp.
        cached_cycles, streamed_cycles: of storing and reading an element, in the cache and past it.
        lanes: so many maxima or minima are found side by side.
        long_trips: from so many trips on the scalar remainder of a loop in wide vectors is a small part.
        short_trips: loops of fewer trips do not matter.
        jammed_rows: so many rows that share vectors run together.
        tile_trips: so many trips of a parallel loop run side by side in the sequential loops in it.
        parallel_work: the least number of elementary operations for which a loop is divided among threads.
        parallel_trips: a loop of fewer trips around a library function is left to one thread.
        parts: a sum over trips that threads share has so many partial sums, whatever the number of threads.
        few_parts: the same where each part has arrays of its own.
        private_elements: arrays of at most so many elements are privatised: each part adds to its own copy.
        product_speed: an operation of a product of matrices takes about so many times less than another one.
        gemm_work, gemv_work: the least multiplications for which BLAS pays: of two matrices, of a matrix and a vector.
        syrk_size: the least rows and summed points for which half of a symmetric product and a copy are faster.
        blas_alone: a product of at most so many multiplications is computed by one thread, for all dtypes.
        call_work: the multiplications that a call of BLAS of its own must be worth.
        lifted_work: products of fewer multiplications in all trips stay in their loop.
        long_body: a nest of at least so many statements is not one C++ function: those in its loops are, too.
        outlined_work: of at least so many elementary operations; a call takes as long as some tens of them.
        basic_block: at most so many computations of scalars, one after the other, are one state, and one function.
        long_run: more of them in a loop are not one C++ function; each function returns scalars in memory.
        widened_trips: rows of masks of at most so many elements are copied to rows of wider integers.
        widened_operations: of loops of at least so many operations.
        packed_operations: a row is copied, so that no index wraps around, for at least so many operations of a trip.
        matrix_work: fewer multiplications are not worth a further matrix.
    """

    local_bytes: int = 1 << 15
    stack_bytes: int = 1 << 20
    cache_bytes: int = 1 << 20
    last_cache_bytes: int = 1 << 26
    streamed_bytes: int = 1 << 20
    strip: int = 1024
    streamed_trips: int = 128
    updated_elements: int = 1 << 18
    quotient_cycles: int = 2
    function_cycles: int = 6
    cached_cycles: int = 1
    streamed_cycles: int = 7
    lanes: int = 16
    long_trips: int = 128
    short_trips: int = 16
    jammed_rows: int = 4
    tile_trips: int = 8
    parallel_work: int = 1 << 20
    parallel_trips: int = 8
    parts: int = 64
    few_parts: int = 8
    private_elements: int = 1 << 13
    product_speed: int = 8
    gemm_work: int = 256
    gemv_work: int = 512
    syrk_size: int = 128
    blas_alone: int = 1_500_000
    call_work: int = 1024
    lifted_work: int = 20_000
    long_body: int = 48
    outlined_work: int = 1024
    basic_block: int = 128
    long_run: int = 512
    widened_trips: int = 512
    widened_operations: int = 4
    packed_operations: int = 8
    matrix_work: int = 1 << 18


CPU = Target()


def cpu() -> Target:
    """The machine that code is generated for."""
    return CPU
