"""`differentiate`: reverse-mode differentiation of a NumPy program; returns its gradient as a callable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from sdfgad.api.callables import OfCallee, callee_of
from sdfgad.api.chosen import Chosen, Wrt
from sdfgad.api.device_calls import total, with_cotangent
from sdfgad.api.pickling import check_importable, found_by_name, made_of_sent, texts_to_send
from sdfgad.errors import ArgumentError, OutputError
from sdfgad.ir.program import Program
from sdfgad.options import (
    DEVICES,
    RANKS,
    SHAPES,
    STRATEGIES,
    Accumulation,
    Device,
    Options,
    Ranks,
    Shapes,
    Strategy,
    parse_bytes,
)
from sdfgad.parse.builder import Builder
from sdfgad.parse.derivatives import Derivative, GradientCode
from sdfgad.parse.primal import Primal
from sdfgad.parse.procedures import expanded
from sdfgad.parse.source import add_text, read_source
from sdfgad.parse.structure import PLAIN
from sdfgad.parse.transformed import kind_within, transformation
from sdfgad.pipeline import Pipeline
from sdfgad.plan import Plan
from sdfgad.plan.ilp import SolverMissing, check_solver
from sdfgad.specialise.device_argument import OnGpu, may_be_on_device
from sdfgad.specialise.device_call import bind_on_device
from sdfgad.specialise.directions import directions_of
from sdfgad.specialise.nested import arguments_within, bind_within, gradient_within, inlining_of, pipeline_within
from sdfgad.specialise.outgrown import repeated
from sdfgad.specialise.remembered import Remembered
from sdfgad.specialise.signature import Call, as_contiguous, bind, definition, own_copy
from sdfgad.specialise.specialise import Specialisation, specialise

Array = np.ndarray[Any, Any]


@transformation
def differentiate(
    program: Callable[..., Any],
    *,
    wrt: Wrt = None,
    output: str | None = None,
    reduce: Literal["sum"] | None = None,
    memory_limit: int | str | None = None,
    strategy: Strategy = "ilp",
    overrides: Mapping[str, str] | None = None,
    allow_unused: bool = False,
    solver: str = "CBC",
    solver_seconds: float = 10.0,
    shapes: Shapes = "auto",
    accumulate: Accumulation | None = None,
    device: Device = "auto",
    ranks: Ranks | None = None,
    source: str | None = None,
) -> DifferentiatedProgram:
    """The gradient of an unmodified NumPy program, by reverse-mode automatic differentiation.

    Args:
        program: a Python function over NumPy arrays, numbers and containers of them; a bound method, a
            `functools.partial` or an object with `__call__`, what they hold having gradients if `wrt` names it; a
            gradient, ``differentiate(differentiate(f))``; a `dace.program`; or a `dace.SDFG`, whose arguments are its
            arrays, scalars and symbols, by name.
        wrt: the arguments to differentiate by: a name or position (the result is one gradient), a sequence of them
            (a tuple in that order; of an SDFG a dict), or None for every floating argument (a dict by name). The
            gradient by a container (a dict, list, tuple, named tuple, dataclass or object) is a container of the same
            structure, with None for what is no float; ``"params.w"`` and ``"params['w']"`` name a part of one.
        output: what is differentiated: "return", "return[1]", or the name of an argument that the program updates
            in place, of an SDFG that of an array that it writes. None: the returned value, or, if nothing is returned,
            the one argument that is updated.
        reduce: "sum" differentiates the sum of a non-scalar output.
        memory_limit: bytes, or text such as "512 MiB": the most that one call may hold at once, in arguments,
            outputs, gradients, stored values and temporaries. None: no limit.
        strategy: "ilp" finds the fastest plan within the limit. "store_all" stores whatever the reverse sweep needs;
            "recompute_all" stores as little as possible without running anything more than twice; "revolve" stores
            all but the states of loops, of which it keeps as many as the limit allows (Griewank and Walther).
        overrides: name of a value -> "store" or "recompute", whatever the solver would choose.
        allow_unused: give zeros for arguments of `wrt` on which the output does not depend, instead of an error. Of a
            container one leaf is enough, and without `wrt` numbers need not be used.
        solver: who solves the integer program: "CBC", which comes with PuLP, or "HiGHS", if highspy is installed.
        solver_seconds: how long the solver may take; then the best plan found by then is used, and its status says so.
            Of more than 300 decisions for each second it is not asked: a descent then chooses. Looking for the smallest
            peak, where no plan keeps the limit, may take as long again twice.
        shapes: "auto": from the third size of arrays on, sizes whose code differs in numbers alone share compiled
            code, so that a new size takes a tenth of a second instead of one; "any": from the second on; "exact": each
            size has code of its own, which is up to a tenth faster.
        accumulate: "float64": gradients by values in single precision are computed and added up in double precision,
            from what the program computes in single precision, and rounded to their arguments' dtypes at the end;
            adjoints take twice the memory. None: in the program's own precision.
        device: "auto": a call with an array on a CUDA device, of CuPy, JAX, PyTorch, Numba or any other library with
            `__cuda_array_interface__` or `__dlpack__`, runs there, and one without on the CPU. "gpu": all calls run on
            the device; NumPy's arrays are copied there, and their gradients back. "cpu": arrays on a device are an
            error. On the device, `memory_limit` is of its memory, and ``pip install "sdfgad[cuda]"`` is needed. A call
            works on the current stream of the library of the first such array, neither copies nor changes these, and
            does not wait for the device, unless the program has numbers, checks or conditions that the host reads, or
            an array is of a library, such as JAX, that reuses its memory on streams of its own. The gradient by such an
            array is one of its library, and the value one of the first one's.
        ranks: of a program that communicates by mpi4py, what is differentiated by each rank's own arguments: "sum": the
            sum over all ranks of their outputs; "same": the output, which all ranks return alike, as a loss that
            `allreduce` gives. It must be given where values are shared by Allreduce, Bcast or Allgather; else "sum".
        source: the text that defines the program, where it has no file: what `exec` or `python -c` has run.

    Returns:
        A `DifferentiatedProgram` ``g``: ``g(*args)`` takes the program's arguments, leaves them as they are, and
        returns gradients of their shapes and dtypes. It compiles once for each signature.

    Raises:
        UnsupportedGraph: an SDFG has something that is not supported, or DaCe does not parse its program.
        UnsupportedProgram: the source of `program` is not available. What its statements raise comes at the first
            call, when dtypes and shapes are known.
        WrtError: `wrt` names an unknown argument.
        ArgumentError: `memory_limit` or `strategy` is not understood.

    Example:
        >>> def heat(T, u, a):
        ...     for t in range(T):
        ...         u[1:-1] += a[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        ...     return np.sum(u * u)
        >>> g = differentiate(heat, wrt=("u", "a"))  # doctest: +SKIP
        >>> du, da = g(1000, u, a)  # doctest: +SKIP

        Of a `dace.SDFG` with the arrays A and u of N numbers, and loss of one, float64:

        >>> g = differentiate(sdfg, wrt=("A", "u"), output="loss")  # doctest: +SKIP
        >>> g(A=A, u=u, loss=np.zeros(1))["A"].shape == A.shape  # doctest: +SKIP
    """
    if strategy not in STRATEGIES:
        raise ArgumentError(f"strategy={strategy!r} is not known", todo=f"It is one of {', '.join(STRATEGIES)}.")
    if shapes not in SHAPES:
        raise ArgumentError(f"shapes={shapes!r} is not known", todo=f"It is one of {', '.join(SHAPES)}.")
    if accumulate not in (None, "float64"):
        raise ArgumentError(f"accumulate={accumulate!r} is not known", todo='It is "float64" or None.')
    if device not in DEVICES:
        raise ArgumentError(f"device={device!r} is not known", todo=f"It is one of {', '.join(DEVICES)}.")
    if ranks not in (None, *RANKS):
        raise ArgumentError(f"ranks={ranks!r} is not known", todo=f"It is one of {', '.join(RANKS)}, or None.")
    try:
        check_solver(solver)
    except SolverMissing as error:
        raise ArgumentError(str(error), todo='Pass solver="CBC", which comes with PuLP.') from None
    limit = parse_bytes(memory_limit)
    options = Options(
        limit,
        strategy,
        dict(overrides or {}),
        solver,
        solver_seconds,
        shapes=shapes,
        accumulate=accumulate,
        device=device,
        ranks=ranks,
    )
    return DifferentiatedProgram(
        program, wrt=wrt, output=output, reduce=reduce, allow_unused=allow_unused, options=options, source=source
    )


@dataclass(frozen=True)
class Measurement:
    """The measured memory and time of one call of a gradient.

    Attributes:
        peak_bytes: the most bytes held at once: arguments, outputs, gradients, stored values and temporaries.
        seconds: how long the compiled program ran.
        predicted_bytes: the peak that the plan predicts.
        budget_bytes: the memory limit, or None.
    """

    peak_bytes: int
    seconds: float
    predicted_bytes: int
    budget_bytes: int | None


class DifferentiatedProgram(OfCallee, Derivative):
    """The gradient of a program, as `differentiate` returns it; programs that are differentiated may call it, too."""

    def __init__(
        self,
        program: Callable[..., Any],
        *,
        wrt: Wrt,
        output: str | None,
        reduce: str | None,
        allow_unused: bool,
        options: Options,
        source: str | None = None,
    ) -> None:
        if reduce not in (None, "sum"):
            raise OutputError(f"reduce={reduce!r} is not known", todo='Use reduce="sum", or g.vjp with a cotangent.')
        self._program, self._callee = program, callee_of(program)
        self._function = self._callee.function
        self._arguments: dict[str, Any] = {"wrt": wrt, "output": output, "reduce": reduce}
        self._arguments |= {"allow_unused": allow_unused, "options": options, "source": source}
        if source is not None:
            add_text(self._function, source)
        read_source(self._function)
        self._chosen = Chosen(self._callee, wrt, output)
        self._reduce, self._allow_unused = reduce, allow_unused
        self._options = options
        self._specialisations = Remembered(self._specialised)
        self.__name__ = f"gradient of {self._function.__name__}"
        self.__module__, self.__doc__ = self._function.__module__, self._function.__doc__

    # --- copies

    def __copy__(self) -> DifferentiatedProgram:
        return self

    def __deepcopy__(self, _: Any) -> DifferentiatedProgram:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle the function and options; another process finds the compiled library in the cache.

        Raises:
            NotImportable: the function has no name by which another process could import it.
        """
        name, texts = self._function.__qualname__, texts_to_send(self._function)
        if not texts and found_by_name(self.__module__, name) is self:
            return name
        check_importable(self._program)
        return partial(made_of_sent, texts, partial(type(self), **self._arguments)), (self._program,)

    # --- calls

    @repeated
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient, as `wrt` asks for it: one array, a tuple, or a dict by name.

        Raises:
            OutputError: the output is ambiguous or unknown, or not a scalar while `reduce` is None.
            WrtError: an argument of `wrt` is not floating, or the output does not depend on it.
            ArgumentError: the arguments do not fit the function.
            UnsupportedProgram, MissingRule: the program does something that cannot be differentiated.
            InvalidIndex, ShapeMismatch: where NumPy would raise, too.
            InfeasibleBudget: no plan keeps the memory limit.
            OutOfMemory: the machine has not enough memory.
        """
        call, specialisation = self._bind_and_specialise(args, kwargs)
        seed = self._seed(specialisation)
        return self._chosen.ordered(call, specialisation.gradients(call, seed))

    @repeated
    def value_and_grad(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The output's value (its sum with ``reduce="sum"``) and the gradient; raises as ``g(...)`` does."""
        call, specialisation = self._bind_and_specialise(args, kwargs)
        value, gradients = specialisation.value_and_gradients(call, self._seed(specialisation))
        gradient = self._chosen.ordered(call, gradients)
        if call.caller is not None:
            return (total(call, value) if specialisation.output_shape else value), gradient
        return (np.sum(value) if specialisation.output_shape else value[()]), gradient

    def _seed(self, specialisation: Specialisation) -> Array:
        """The cotangent of an output that is a real number, or is summed."""
        if specialisation.output_shape != () and self._reduce is None:
            raise OutputError(
                f"the output `{specialisation.output}` has shape {specialisation.output_shape}, not that of a scalar",
                specialisation.primal.source.where(specialisation.primal.source.node),
                'Pass reduce="sum" to differentiate its sum, or call g.vjp(*args, cotangent=...).',
            )
        if specialisation.output_dtype.kind == "c":
            raise OutputError(
                f"the output `{specialisation.output}` is complex, and only a real number has a gradient",
                specialisation.primal.source.where(specialisation.primal.source.node),
                "Return a real number such as np.sum(np.abs(z) ** 2), or call g.vjp(*args, cotangent=...).",
            )
        return specialisation.ones()

    @repeated
    def vjp(self, *args: Any, cotangent: Any, **kwargs: Any) -> Any:
        """The gradient of ``np.sum(output * cotangent)``.

        Args:
            cotangent: an array shaped like the output. For a complex output the gradient is that of
                ``np.sum((np.conj(cotangent) * output).real)``; a complex argument's is by its real part plus i times
                that by its imaginary part. It may be on a device, where the call runs there.

        Raises:
            ArgumentError: the cotangent has another shape; else as ``g(...)`` does.
        """
        call, specialisation = self._bind_and_specialise(args, kwargs)
        if type(cotangent) not in PLAIN and may_be_on_device(type(cotangent)):
            call, cotangent = with_cotangent(self._function, call, cotangent, specialisation)
        seed = as_contiguous(cotangent, specialisation.output_dtype)
        if seed.shape != specialisation.output_shape:
            raise ArgumentError(
                f"the cotangent has shape {seed.shape}, the output `{specialisation.output}` "
                f"{specialisation.output_shape}",
                definition(self._function),
                "Pass a cotangent shaped like the output.",
            )
        return self._chosen.ordered(call, specialisation.gradients(call, seed))

    @repeated
    def jvp(self, *args: Any, tangents: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The output and its derivative in a direction, in forward mode, which stores nothing.

        Args:
            tangents: the direction, arranged as the gradient is: one array, a tuple, or a dict by name; None is zero.

        Raises:
            ArgumentError: a tangent has another structure or shape than the argument; else as ``g.value`` does.
        """
        call, specialisation = self._bind_and_specialise(args, kwargs)
        return directions_of(specialisation).along(call, self._chosen.tangents(call, tangents))

    def linearize(self, *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
        """The output, and its derivative as a function of the direction.

        The direction is arranged as for ``g.jvp``; the tangents of several arguments may also be passed one by one.
        """
        kept, named = map(own_copy, args), {name: own_copy(one) for name, one in kwargs.items()}
        return self.value(*args, **kwargs), partial(self._along, tuple(kept), named)

    def _along(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], *tangents: Any) -> Any:
        return self.jvp(*args, tangents=tangents[0] if len(tangents) == 1 else tangents, **kwargs)[1]

    @repeated
    def value(self, *args: Any, **kwargs: Any) -> Any:
        """The output alone, from the compiled forward program."""
        call, specialisation = self._bind_and_specialise(args, kwargs)
        value = specialisation.value(call)
        return value[()] if call.caller is None else value

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Ahead-of-time compilation: all the work of a first ``g(...)`` or ``g.vjp``, except running it."""
        call, specialisation = self._bind_and_specialise(args, kwargs)
        specialisation.prepare(call)

    def programs(self, *args: Any, **kwargs: Any) -> list[Program]:
        """The programs, not compiled, that calls with these arguments run: the gradient with the value, and without."""
        call, specialisation = self._bind_and_specialise(args, kwargs)
        built = specialisation.built(specialisation.layout(call))
        counting = [] if built.gradient_program.counting is None else [built.gradient_program.counting]
        return [built.whole, built.gradients, *counting]

    def sdfg(self, *args: Any, **kwargs: Any) -> Any:
        """The `dace.SDFG` of the output and the gradient for arguments like these: the graph whose code is compiled.

        It may be saved, viewed, transformed and compiled with DaCe; ``import sdfgad.targets`` registers our schedule
        and storage with DaCe where such a graph is loaded. Changes to it do not reach this gradient.
        """
        call, specialisation = self._bind_and_specialise(args, kwargs)
        return specialisation.built(specialisation.layout(call)).sdfg

    @repeated
    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """The `Plan` for arguments like these: what is stored, what is recomputed, and why.

        Raises:
            InfeasibleBudget: no plan keeps the memory limit; else as ``g(...)`` does.
        """
        call, specialisation = self._bind_and_specialise(args, kwargs)
        return specialisation.plan(call)

    @repeated
    def measure(self, *args: Any, repeats: int = 3, **kwargs: Any) -> Measurement:
        """Run the gradient, and measure its peak memory and time.

        The cotangent of a non-scalar output is all ones. Bytes are counted where memory is allocated, arguments and
        results included; seconds are the median of `repeats` runs after a first one.
        """
        call, specialisation = self._bind_and_specialise(args, kwargs)
        ones = specialisation.ones()
        runs = [specialisation.measure(call, ones) for _ in range(max(repeats, 1) + 1)]
        layout, sizes = specialisation.layout(call), specialisation.sizes(call)
        seconds = sorted(run[1] for run in runs[1:])[max(repeats, 1) // 2]
        return Measurement(max(run[0] for run in runs), seconds, layout.peak_bytes(sizes), self._options.limit)

    # --- within other programs

    def name_of(self, position: int) -> str | None:
        """The name of the argument at a position of a call."""
        return self._callee.name_of(position)

    def code_within(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], b: Builder) -> GradientCode:
        """The gradient program, for a program that calls this gradient."""
        call, pipeline = self.pipeline_within(args, kwargs, b)
        (gradient, lookups), inputs = gradient_within(pipeline), pipeline.primal.inputs
        inlining = inlining_of(pipeline.primal, expanded(gradient.program, is_last=False))
        return GradientCode(
            replace(inlining, lookups=(*inlining.lookups, *lookups)),
            call.values,
            {name: buffer for name, buffer in inputs.items() if buffer in gradient.program.inputs},
            call.kinds,
            gradient.cotangent,
            gradient.value,
            {name: gradient.gradients.get(inputs[name]) for name in pipeline.wrt},
            lambda: self._seed(Specialisation(pipeline)),
            partial(self._chosen.arranged, call),
            gradient.others,
            self._aux_of(pipeline.primal),
        )

    def pipeline_within(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], b: Builder) -> tuple[Call, Pipeline]:
        """The bound arguments of a call in a program, and the gradient's pipeline for them; arguments as above."""
        call = bind_within(
            self._function, *arguments_within(*self._callee.arguments(args, kwargs)), partial(kind_within, b)
        )
        leaves, is_unused_allowed = self._chosen.leaves(call), self._allow_unused
        return call, pipeline_within(self._function, call, leaves, self._output_of, is_unused_allowed, self._options, b)

    def _aux_of(self, primal: Primal) -> Callable[..., Any] | None:
        """What makes the auxiliary data of a call in a program, if it returns some."""
        return None

    # --- inside

    def _bind_and_specialise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Call, Specialisation]:
        try:
            call = bind(self._function, *self._callee.arguments(args, kwargs))
        except OnGpu:
            if self._options.device == "cpu":
                raise
            call = bind_on_device(self._function, *self._callee.arguments(args, kwargs))
        return call, self._specialisations(call)

    def _specialised(self, call: Call) -> Specialisation:
        chosen, made = self._chosen, Specialisation
        if call.caller is not None or self._options.device == "gpu":
            from sdfgad.specialise.on_device import OnDevice as made  # The CPU needs nothing of the device.
        options = self._options
        return specialise(self._function, call, chosen.leaves, self._output_of, self._allow_unused, options, made)

    def _output_of(self, primal: Primal) -> str:
        """The name of the output to differentiate."""
        return self._chosen.output(primal)


def specialised(
    g: DifferentiatedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any], without: tuple[str, ...] = ()
) -> tuple[Call, Specialisation]:
    """The bound arguments of a call, and the program specialised to them; `without`: passes to omit, for inspection."""
    if without:
        options = replace(g._options, without=without)
        g = type(g)(g._program, **g._arguments | {"options": options})
    return g._bind_and_specialise(args, dict(kwargs))
