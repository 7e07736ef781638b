"""NumPy programs as functions of JAX's arrays, which `jit`, `grad`, `jvp` and `vmap` transform.

>>> import sdfgad.jax
>>> def energy(x, k):
...     return 0.5 * np.sum(k * x * x)
>>> jax.jit(jax.grad(sdfgad.jax.function(energy)))(x, k)  # doctest: +SKIP

A call is a primitive of JAX's whose tangent is another, linear one: the pushforward of the program, of which the
transpose is its pullback. Both are NumPy programs, and calls of them the same primitives: derivatives have any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.api.pullbacks import Differentiable
from sdfgad.api.tensor_calls import TENSOR, TensorCall, of_tensors, taken_apart, tensor_call
from sdfgad.errors import ArgumentError, MissingPackage, SdfgadError
from sdfgad.parse.returned import Output
from sdfgad.parse.structure import flattened
from sdfgad.specialise.compiled import shape_of

try:
    import jax
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    from sdfgad.xla.host_call import host_call
except ModuleNotFoundError as error:
    raise MissingPackage("JAX", "jax", "jax") from error

Array = np.ndarray[Any, Any]


def function(
    program: Callable[..., Any], *, memory_limit: int | str | None = None, **options: Any
) -> Callable[..., Any]:
    """A NumPy program as a function of JAX's arrays.

    Args:
        program: a NumPy function that returns arrays, numbers, or containers of them.
        memory_limit, options: as in `sdfgad.differentiate`, for the gradients.

    Returns:
        A function with the program's arguments, for `jax.jit`, `jax.grad`, `jax.jvp`, `jax.vmap` (one element after the
        other), `jax.checkpoint` and what is built of them, to any order. Arrays, also in containers, become NumPy
        arrays; other arguments, such as Python integers that say how often a loop runs, are passed as they are: under
        `jax.jit` name them in `static_argnums`. Under `jit` compiled code reads XLA's own buffers, by its foreign
        function interface; on another device than the CPU `jax.pure_callback` copies arguments and results.

    Raises:
        SdfgadError: as `sdfgad.differentiate` and the calls of its result do, when JAX traces the call. What is known
            only when the program runs, such as a singular matrix, JAX reports as an error of its own under `jit`.

    Example:
        >>> relax = sdfgad.jax.function(heat, memory_limit="100 MiB")  # doctest: +SKIP
        >>> jax.jit(jax.value_and_grad(lambda u: jnp.sum(relax(10, u) ** 2)))(u)  # doctest: +SKIP
    """
    return of_tensors(program, {"memory_limit": memory_limit, **options}, _called)


def _called(program: Differentiable, args: tuple[Any, ...]) -> Any:
    """What a program returns for arguments with arrays, in JAX's graph."""
    call, given = tensor_call(program, args, _is_array)
    arrays = [jnp.asarray(one) for one in given]
    pairs = list(zip(given, arrays, strict=True))
    call.returned, results = _returned(call, [_known(one, like, 0) for one, like in pairs])
    if any(_is_traced_integer(one) for one in given):
        _check_shapes(call, results, [_known(one, like, 1) for one, like in pairs])
    return call.arranged(_run.bind(*arrays, site=Site(call, results)))


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic))


@dataclass(frozen=True, eq=False)
class Site:
    """A call in JAX's graph, and the shapes and dtypes of the arrays that it returns."""

    call: TensorCall
    results: tuple[jax.ShapeDtypeStruct, ...]

    def floating(self, values: Sequence[Any]) -> list[Any]:
        """Of values for all results, those for the floating ones."""
        return [one for one, result in zip(values, self.results, strict=True) if _is_float(result)]


def _is_traced_integer(given: Any) -> bool:
    return isinstance(given, jax.core.Tracer) and not _is_float(given)


def _known(given: Any, like: Any, guess: int) -> Array:
    """What is known of an array when JAX traces: integers, which may decide shapes, or else a guess."""
    if isinstance(given, jax.core.Tracer) or _is_float(like):
        return np.broadcast_to(np.full((), guess, like.dtype), like.shape)
    return np.asarray(given, like.dtype)


def _check_shapes(call: TensorCall, results: Sequence[Any], arrays: Sequence[Array]) -> None:
    """Compares shapes of results with those for another guess of the integers; `_on_host` compares them with all.

    Raises:
        ArgumentError: they differ.
    """
    try:
        others = _returned(call, arrays)[1]
    except SdfgadError:  # The other guess is no value that the program takes.
        return
    for one, other in zip(results, others, strict=True):
        if one.shape != other.shape:
            raise _decided_by_integers(call)


def _decided_by_integers(call: TensorCall) -> ArgumentError:
    what = f"integers that JAX traces decide the shape of what `{call.program.name}` returns"
    return ArgumentError(what, todo="Name them in static_argnums of jax.jit, and pass Python integers.")


def _returned(call: TensorCall, arrays: Sequence[Array]) -> tuple[Any, tuple[jax.ShapeDtypeStruct, ...]]:
    """The structure and the leaves of what a call returns, and its arrays, found without running it."""
    primal = call.program.forward(call.args(arrays))[1].primal
    leaves = primal.returned.leaves
    names = [leaf.name for leaf in leaves if isinstance(leaf, Output)]
    buffers = [primal.program.buffers[primal.program.outputs[name]] for name in names]
    kept = [TENSOR if isinstance(leaf, Output) else leaf for leaf in leaves]
    return (primal.returned.structure, kept), tuple(_canonical(shape_of(one), one.dtype) for one in buffers)


def _canonical(shape: tuple[int, ...], dtype: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(dtype))


def _is_float(one: Any) -> bool:
    return bool(jnp.issubdtype(one.dtype, jnp.inexact))


# --- values


def _on_host(site: Site, *arrays: Any) -> list[Array]:
    """Runs the program, or its pullback or pushforward.

    Raises:
        ArgumentError: integers that JAX traces decide a shape.
    """
    call = site.call
    leaves = flattened(call.program.value(call.args([np.asarray(one) for one in arrays])), "result")[1]
    data = [leaf for leaf, kept in zip(leaves, call.returned[1], strict=True) if kept is TENSOR]
    if any(np.shape(one) != like.shape for one, like in zip(data, site.results, strict=True)):
        raise _decided_by_integers(call)
    return [np.asarray(one, like.dtype) for one, like in zip(data, site.results, strict=True)]


def _eager(*arrays: Any, site: Site, **_: Any) -> list[Any]:
    """Outside of `jit`: without a callback, so that errors are the program's own."""
    return [jnp.asarray(one) for one in _on_host(site, *arrays)]


def _on_buffers(*arrays: Any, site: Site, **_: Any) -> Any:
    """In a program for the CPU."""
    return host_call(partial(_on_host, site), site.results, *arrays)


def _by_copies(*arrays: Any, site: Site, **_: Any) -> Any:
    """In a program for another device."""
    return jax.pure_callback(partial(_on_host, site), list(site.results), *arrays)


def _abstract(*_: Any, site: Site, **__: Any) -> list[Any]:
    return [jax.core.ShapedArray(one.shape, one.dtype) for one in site.results]


def _one_by_one(primitive: Primitive, arrays: Sequence[Any], axes: Sequence[Any], **params: Any) -> Any:
    """The batching rule: a loop over the elements, which has derivatives itself."""
    mapped = [jnp.moveaxis(one, axis, 0) for one, axis in zip(arrays, axes, strict=True) if axis is not None]

    def element(rows: list[Any]) -> Any:
        left = iter(rows)
        return primitive.bind(
            *(one if a is None else next(left) for one, a in zip(arrays, axes, strict=True)), **params
        )

    outputs = jax.lax.map(element, mapped)
    return outputs, [0] * len(outputs)


# --- derivatives


def _pushforward(primals: Sequence[Any], tangents: Sequence[Any], *, site: Site, **_: Any) -> Any:
    """The tangents of the results: a linear primitive of the tangents that are not zero."""
    moved = tuple(not isinstance(one, ad.Zero) for one in tangents)
    given = [one for one in tangents if not isinstance(one, ad.Zero)]
    if _is_number(site) and not any(map(jnp.iscomplexobj, given)):
        return _with_gradients(primals, given, site, moved)
    outputs = _run.bind(*primals, site=site)
    pushed = iter(_push.bind(*primals, *given, site=_pushed_site(site, primals, moved), primal=site, moved=moved))
    zeros = [ad.Zero(jax.typeof(one).to_tangent_aval()) for one in outputs]
    return outputs, [next(pushed) if _is_float(one) else zero for one, zero in zip(outputs, zeros, strict=True)]


def _is_number(site: Site) -> bool:
    """Whether a call returns one real number, whose gradients come from the same run."""
    return site.call.is_single and site.results[0].shape == () and site.results[0].dtype.kind == "f"


def _with_gradients(primals: Sequence[Any], tangents: Sequence[Any], site: Site, moved: tuple[bool, ...]) -> Any:
    """A number and its tangent, the inner product of its gradients with the tangents."""
    call = site.call
    wanted = [name for name, is_moved in zip(call.names, moved, strict=True) if is_moved]
    valued = replace(call, program=call.program.with_gradients(wanted), returned=_tuple_of(1, len(wanted)))
    results = [site.results[0], *(jax.ShapeDtypeStruct(one.shape, one.dtype) for one in tangents)]
    value, *gradients = _run.bind(*primals, site=Site(valued, tuple(results)))
    terms = [jnp.sum(one * tangent) for one, tangent in zip(gradients, tangents, strict=True)]
    return [value], [sum(terms[1:], terms[0]).astype(value.dtype)]


def _pushed_site(site: Site, primals: Sequence[Any], moved: tuple[bool, ...]) -> Site:
    """The call of the pushforward, with these places for tangents."""
    call = site.call
    tangents = [TENSOR if is_moved else None for is_moved in moved]
    args = (call.args([TENSOR for _ in primals]), call.tangents(tangents))
    pushed, _ = tensor_call(call.program.pushforward(), args, lambda leaf: leaf is TENSOR)
    floating = iter(site.results)
    kept = [leaf if leaf is TENSOR and _is_float(next(floating)) else None for leaf in call.returned[1]]
    pushed.returned = call.returned[0], kept
    return Site(pushed, tuple(site.floating(site.results)))


def _transposed(cotangents: Sequence[Any], *args: Any, site: Site, primal: Site, moved: tuple[bool, ...]) -> Any:
    """The pullback: the transpose of the pushforward, as JAX defines it, without conjugates."""
    primals, call = args[: len(moved)], primal.call
    wanted = [name for name, is_moved in zip(call.names, moved, strict=True) if is_moved]
    given, like = iter(cotangents), [one for one, is_moved in zip(primals, moved, strict=True) if is_moved]
    every = [_conjugate(next(given)) if _is_float(one) else None for one in primal.results]
    pulled, arrays = tensor_call(
        call.program.pullback(wanted, call.is_single), (call.args(primals), call.cotangent(every)), _is_array
    )
    pulled.returned = _tuple_of(len(wanted))
    results = tuple(jax.ShapeDtypeStruct(one.shape, one.dtype) for one in like)
    found = _run.bind(*arrays, site=Site(pulled, results))
    return [*(None for _ in primals), *map(_conjugate, found)]


def _tuple_of(*counts: int) -> tuple[Any, list[Any]]:
    """The structure of a tuple of arrays, and its leaves; of several numbers: an array, then a tuple of so many."""
    first = (TENSOR,) * counts[0]
    return taken_apart((*first, (TENSOR,) * counts[1]) if counts[1:] else first, lambda leaf: leaf is TENSOR)[:2]


def _conjugate(cotangent: Any) -> Any:
    """A cotangent in JAX's convention from one in ours, or back."""
    cotangent = ad.instantiate_zeros(cotangent)
    return jnp.conj(cotangent) if jnp.iscomplexobj(cotangent) else cotangent


# --- JAX's primitives


def _primitive(name: str) -> Primitive:
    made = Primitive(name)
    made.multiple_results = True
    made.def_impl(_eager)
    made.def_abstract_eval(_abstract)
    mlir.register_lowering(made, mlir.lower_fun(_by_copies, multiple_results=True))
    mlir.register_lowering(made, mlir.lower_fun(_on_buffers, multiple_results=True), platform="cpu")
    batching.primitive_batchers[made] = partial(_one_by_one, made)
    ad.primitive_jvps[made] = _pushforward
    return made


# A call of a program, and of its pushforward, which is linear in the tangents.
_run, _push = _primitive("sdfgad"), _primitive("sdfgad_pushforward")
ad.primitive_transposes[_push] = _transposed
