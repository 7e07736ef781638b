"""Data parallelism on Dask: the value and the gradients of a program, summed over shards of its data on many workers.

The graph of a call; the sums are a binary tree over the shards in their order, whoever computes them and when::

    arguments-of-f --+-- gradient-of-f (shard 0) --+
                     +-- gradient-of-f (shard 1) --+-- sum-of-f --+
                     +-- gradient-of-f (shard 2) --+              +-- sum-of-f
                     +-- gradient-of-f (shard 3) --+-- sum-of-f --+

All data is part of the graph, so that Dask can run each task again wherever a worker is lost.
"""

from __future__ import annotations

import hashlib
import itertools
import operator
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sdfgad.api.callables import callee_of
from sdfgad.api.chosen import Chosen
from sdfgad.api.differentiate import differentiate
from sdfgad.api.functional import Argnums
from sdfgad.api.pickling import texts_of
from sdfgad.errors import ArgumentError, MissingPackage
from sdfgad.parse.structure import path_of
from sdfgad.shards import Held, Work, added, gradients_of_part, pairwise
from sdfgad.specialise.signature import definition

try:
    import dask
    from dask.base import is_dask_collection
    from dask.delayed import Delayed, delayed
    from distributed import Client, Future, get_client
    from distributed.protocol.pickle import dumps
except ImportError as error:
    raise MissingPackage("Dask and its scheduler", "distributed", "dask") from error

# Dask advises against graphs with data in them; here that is meant.
WARNING_OF_SIZE = "distributed.admin.large-graph-warning-threshold"


def value_and_grad(
    program: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    over: str | Sequence[str] = ("batch",),
    client: Client | None = None,
    memory_limit: int | str | None = None,
    **options: Any,
) -> ShardedGradient:
    """A function that returns the sum over shards of a scalar-valued program and of its gradient, computed by Dask.

    The sums are pairwise in the order of the shards, ``(s0 + s1) + (s2 + s3)``, an odd one being added last. So the
    same shards give the same bits, with any number of workers of one kind of machine, whichever ends first or is lost.

    Args:
        program: a NumPy function of one shard; one of a module that workers can import, or any that cloudpickle sends.
        argnums: as in `sdfgad.value_and_grad`. By a replicated argument (an array, a number, or a container of them)
            the gradient is the sum over the shards, of the argument's structure; by one of `over` it is the list of
            the shards' gradients in their order.
        over: the names of the arguments that are split into shards. In a call each of them is

            - a list or tuple of shards: arrays, containers of arrays, or Dask's futures or delayed objects of them;
            - a `dask.array.Array`: its blocks along the first axis are the shards, each with all of the other axes;
            - a `dask.bag.Bag`: its elements are the shards. Those of a partition are added first, then the partitions.

            All of them have equally many shards; bags do not go with others. All other arguments are replicated: they
            are sent once in a call.
        client: Dask's client; None: the current one when the result is called.
        memory_limit: what the gradient of one shard may hold at once on a worker, as in `differentiate`.
        options: other options of `differentiate`, such as ``allow_unused=True``. `shapes` is "exact" here, unless you
            say otherwise: with the others, bits may depend on which sizes of shards a worker has seen before.

    Returns:
        A function of the program's arguments that returns the value and the gradient.

    Raises:
        ArgumentError: `over` or `options` is not understood; in a call, an argument of `over` is none of the above,
            there are no shards or unequally many, or there is no client.
        WrtError: `argnums` names an unknown argument.
        SdfgadError: in a call, what the program raises in a worker; a note says in which shard.

    Example:
        >>> def misfit(w, batch):
        ...     return np.sum((batch[:, :-1] @ w - batch[:, -1]) ** 2)
        >>> value, dw = value_and_grad(misfit, over="batch")(w, np.array_split(data, 8))  # doctest: +SKIP
    """
    return ShardedGradient(
        program,
        argnums,
        (over,) if isinstance(over, str) else tuple(over),
        client,
        {"memory_limit": memory_limit, "shapes": "exact", **options},
    )


class ShardedGradient:
    """The value and the gradient of a program, summed over shards, as `value_and_grad` returns it."""

    def __init__(
        self,
        program: Callable[..., Any],
        argnums: Argnums,
        over: tuple[str, ...],
        client: Client | None,
        options: Mapping[str, Any],
    ) -> None:
        self._callee, self._over, self._client = callee_of(program), over, client
        self._function = self._callee.function
        self._parameters = [one.name for one in self._callee.parameters]
        for name in over or ("",):
            if name not in self._parameters:
                raise self._error(f"`{self._function.__name__}` has no argument {name!r} to split into shards")
        chosen = Chosen(self._callee, argnums, None)
        if chosen.names is None:
            raise self._error("`argnums` is None", "Pass names or positions of arguments.")
        if not {"output", "reduce"}.isdisjoint(options):
            raise self._error("what is differentiated over shards is the scalar that the program returns")
        self._is_single = chosen.is_single
        self._is_own = tuple((path_of(name) or ("",))[0] in over for name in chosen.names)
        self._program, self._options = program, {"wrt": chosen.names, **options}
        self.__name__ = f"sum over shards of the {differentiate(program, **self._options).__name__}"

    def __repr__(self) -> str:
        return f"<sdfgad {self.__name__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The value and the gradient; `value_and_grad` says what they are, and what is raised."""
        client = self._client or _current_client()
        if client.asynchronous:
            raise ArgumentError("Dask's client is asynchronous", todo="Pass one that is not: Client(...).")
        asked = self._asked(args, kwargs)
        with dask.config.set({WARNING_OF_SIZE: "1 PB"}):
            futures = client.compute(asked)
        try:
            total, *own = client.gather(futures)
        finally:
            # After an error, or Ctrl-C, what has not begun is not wanted.
            for future in futures:
                future.release()
        if total is None:
            raise self._error("there is no shard: all partitions are empty")
        return total[0], self._arranged(total[1], [gradients for part in own for gradients in part])

    # --- the graph

    def _asked(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Delayed]:
        """What Dask is to compute: the total, and the gradients by arguments of `over`, if there are some."""
        at = tuple(self._place(name, args, kwargs) for name in self._over)
        given = {place: args[place] if isinstance(place, int) else kwargs[place] for place in at}
        fixed = [None if place in given else value for place, value in enumerate(args)]
        named = {name: None if name in given else value for name, value in kwargs.items()}
        self._check_replicated([*fixed, *named.values()])
        columns = [self._parts(name, given[place]) for name, place in zip(self._over, at, strict=True)]
        self._check_numbers({name: given[place] for name, place in zip(self._over, at, strict=True)}, columns)
        texts = texts_of(self._function)
        digest = hashlib.sha256(dumps((self._program, self._options, texts))).hexdigest()
        split = at, self._is_own, _is_bag(given[at[0]])
        work = Work(self._program, self._options, texts, digest, fixed, named, *split)
        return self._tree(work, columns)

    def _tree(self, work: Work, columns: list[list[Any]]) -> list[Delayed]:
        """The graph for parts of the arguments in `over`, one column for each of these."""
        name = re.sub(r"[\W_]+", "-", self._function.__name__).strip("-")
        token, numbers = uuid.uuid4().hex, itertools.count()
        shared = delayed(work, name=f"arguments-of-{name}-{token}", traverse=False)
        of_part, add, take = (delayed(one, pure=False) for one in (gradients_of_part, added, operator.getitem))
        parts = [
            of_part(shared, k, *part, dask_key_name=f"gradient-of-{name}-{token}-{k}")
            for k, part in enumerate(zip(*columns, strict=True))
        ]
        own: list[Delayed] = []
        if any(self._is_own):
            own = [take(part, 1, dask_key_name=f"shards-of-{name}-{token}-{k}") for k, part in enumerate(parts)]
            parts = [take(part, 0, dask_key_name=f"summand-of-{name}-{token}-{k}") for k, part in enumerate(parts)]
        total = pairwise(parts, lambda x, y: add(x, y, dask_key_name=f"sum-of-{name}-{token}-{next(numbers)}"))
        assert total is not None
        return [total, *own]

    def _parts(self, name: str, value: Any) -> list[Any]:
        """What the tasks of the parts get of an argument in `over`: shards, or of a bag lists of them."""
        kind = type(value).__module__.partition(".")[0], type(value).__name__
        if kind == ("dask", "Array") and value.ndim:
            whole = value.rechunk(dict.fromkeys(range(1, value.ndim), -1))
            return list(whole.to_delayed().reshape(-1))
        if _is_bag(value):
            return list(value.to_delayed())
        if isinstance(value, (list, tuple)) and value:
            return [one if isinstance(one, Future) or is_dask_collection(one) else Held(one) for one in value]
        found = "empty" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"
        raise self._error(
            f"the argument `{name}` is {found}, and is to be split into shards",
            "Pass a list of shards, such as np.array_split(data, 8), a Dask array with an axis, or a Dask bag.",
        )

    # --- arguments and results

    def _place(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int | str:
        """Where an argument is in a call."""
        place = self._parameters.index(name)
        if name in kwargs or place < len(args):
            return name if name in kwargs else place
        raise self._error(f"the argument `{name}`, which has the shards, is not passed")

    def _check_replicated(self, values: Iterable[Any]) -> None:
        found = [one for one in values if isinstance(one, Future) or is_dask_collection(one)]
        if found:
            what = f"a {type(found[0]).__name__} of Dask's is passed for an argument that is replicated"
            raise self._error(what, "Name the argument in `over`, or pass its value, by .compute() or .result().")

    def _check_numbers(self, given: Mapping[str, Any], columns: list[list[Any]]) -> None:
        if len({_is_bag(value) for value in given.values()}) > 1:
            raise self._error("a bag is split into its elements, and other arguments are not", "Make all of them bags.")
        counts = {name: len(column) for name, column in zip(given, columns, strict=True)}
        lengths = {value.chunks[0] for value in given.values() if hasattr(value, "chunks")}
        if len(set(counts.values())) > 1 or len(lengths) > 1:
            listed = ", ".join(f"`{name}` {count}" for name, count in counts.items())
            what = f"the numbers or lengths of shards differ: {listed}"
            raise self._error(what, "Split all of them alike; Dask arrays by x.rechunk({0: y.chunks[0]}).")

    def _arranged(self, summed: Iterable[Any], own: list[tuple[Any, ...]]) -> Any:
        """The gradients in the order of `argnums`: sums, and lists of the shards' gradients."""
        sums, lists = iter(summed), iter([list(column) for column in zip(*own, strict=True)])
        found = tuple(next(lists) if is_own else next(sums) for is_own in self._is_own)
        return found[0] if self._is_single else found

    def _error(self, what: str, todo: str = "") -> ArgumentError:
        todo = todo or f"Its arguments are {', '.join(self._parameters)}; over=... names those that have shards."
        return ArgumentError(what, definition(self._function), todo)


def _current_client() -> Client:
    try:
        return get_client()
    except ValueError:
        todo = "Make one before, client = distributed.Client(), or pass client=..."
        raise ArgumentError("there is no client of Dask's", todo=todo) from None


def _is_bag(value: Any) -> bool:
    return type(value).__module__.startswith("dask.bag") and hasattr(value, "to_delayed")
