"""Thread-parallel loops in C++: threads share ranges of trips that do not depend on the number of threads."""

from __future__ import annotations


def shares(call: str, trips: str, count: int, reach: int, has_calls: bool = False) -> list[str]:
    """Calls a function for each of at most `count` ranges of trips, in any order.

    Trips that are fewer than `reach` apart may add to the same elements. Then all even ranges run first, and all odd
    ones afterwards: as a range has at least `reach` - 1 trips, those that run at the same time are far enough apart.

    Args:
        has_calls: whether library functions are called, which have threads of their own, and may throw.
    """
    lines = [f"const int64_t trips_ = {trips};"]
    parts, first, step = str(count), "0", 1
    if reach > 1:
        parts, first, step = "count_", "phase_", 2
        # With twice as many trips in each range as there must be, few of them meet another thread's.
        longest = f"std::max<int64_t>(trips_ / {2 * (reach - 1)}, 1)"
        lines += [f"const int64_t count_ = std::min<int64_t>({count}, {longest});", "for (int phase_ : {0, 1})"]
    if has_calls:
        # They would each wait for threads of their own; and what they throw must not leave the loop.
        lines += ["const sdfgad::OneThread alone_;", "std::exception_ptr thrown_;"]
        call = f"try {{ {call} }} catch (...) {{\n#pragma omp critical\nthrown_ = std::current_exception();\n}}"
    return [
        *lines,
        f"#pragma omp parallel for schedule({'dynamic' if has_calls else 'static'})",
        f"for (int64_t k_ = {first}; k_ < {parts}; k_ += {step}) {{",
        # As even as can be: where there are fewer trips than parts, each thread gets its share of them, too.
        f"const int64_t first_ = k_ * trips_ / {parts}, last_ = (k_ + 1) * trips_ / {parts};",
        call,
        "}",
        *(["if (thrown_) std::rethrow_exception(thrown_);"] if has_calls else []),
    ]
