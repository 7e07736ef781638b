"""The operators of ATen that `torch.export` leaves: what is written for each, by name and overload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def _named(names: str, prefix: str = "aten.") -> dict[str, str]:
    """Operators that are functions of the same name."""
    return {name: f"{prefix}{name.partition('.')[0].strip('_')}" for name in names.split()}


def _overloads(table: Mapping[str, str], overloads: Iterable[str]) -> dict[str, str]:
    return {f"{name}.{overload}": call for name, call in table.items() for overload in overloads}


SAME_IN_NUMPY = (
    "abs ceil cos cosh exp exp2 expm1 floor log log10 log1p log2 sin sinh sqrt tan tanh trunc sign isnan isinf"
)
UNARY = {f"{name}.default": f"np.{name}({{0}})" for name in SAME_IN_NUMPY.split()}
UNARY |= {f"a{name}.default": f"np.arc{name}({{0}})" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")}
UNARY |= {
    "neg.default": "-{0}",
    "reciprocal.default": "1.0 / {0}",
    "rsqrt.default": "1.0 / np.sqrt({0})",
    "square.default": "{0} * {0}",
    "round.default": "np.rint({0})",
    "logical_not.default": "np.logical_not({0})",
    "bitwise_not.default": "~{0}",
    "erf.default": "op.erf({0})",
    "sigmoid.default": "op.sigmoid({0})",
    "relu.default": "op.relu({0})",
    "hardswish.default": "op.hard_swish({0})",
    "silu.default": "op.swish({0})",
    "mish.default": "op.mish({0})",
    "alias.default": "{0}",
    "clone.default": "op.identity({0})",
}
COMPARISONS = {"eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}", "le": "{0} <= {1}", "gt": "{0} > {1}"}
COMPARISONS |= {"ge": "{0} >= {1}", "mul": "{0} * {1}", "remainder": "np.mod({0}, {1})", "fmod": "np.fmod({0}, {1})"}
BINARY = _overloads(COMPARISONS, ("Tensor", "Scalar"))
BINARY |= _named("add.Tensor sub.Tensor rsub.Tensor rsub.Scalar div.Tensor div.Tensor_mode")
BINARY |= _overloads({"pow": "{0} ** {1}"}, ("Tensor_Scalar", "Tensor_Tensor", "Scalar"))
BINARY |= {
    "maximum.default": "np.maximum({0}, {1})",
    "minimum.default": "np.minimum({0}, {1})",
    "hypot.default": "np.hypot({0}, {1})",
    "atan2.default": "np.arctan2({0}, {1})",
    "where.self": "np.where({0}, {1}, {2})",
    "where.ScalarOther": "np.where({0}, {1}, {2})",
    "masked_fill.Scalar": "np.where({1}, {2}, {0})",
    "masked_fill.Tensor": "np.where({1}, {2}, {0})",
    "logical_and.default": "np.logical_and({0}, {1})",
    "logical_or.default": "np.logical_or({0}, {1})",
    "logical_xor.default": "np.logical_xor({0}, {1})",
    "bitwise_and.Tensor": "{0} & {1}",
    "bitwise_or.Tensor": "{0} | {1}",
    "clamp.default": "op.clip",
    "clamp.Tensor": "op.clip",
    "clamp_min.default": "op.clip",
    "gelu.default": "op.gelu",
}
ACTIVATIONS = _named("elu.default leaky_relu.default hardtanh.default softplus.default hardsigmoid.default")
LINEAR = {
    **dict.fromkeys(("mm.default", "bmm.default", "mv.default", "dot.default", "matmul.default"), "{0} @ {1}"),
    **_named("addmm.default baddbmm.default linear.default convolution.default"),
    "einsum.default": "aten.einsum",
}
POOLING = _named("max_pool2d_with_indices.default avg_pool1d.default avg_pool2d.default avg_pool3d.default")
POOLING |= _named("max_pool3d_with_indices.default _adaptive_avg_pool2d.default")
NORMALISATIONS = _named(
    "_native_batch_norm_legit_no_training.default "
    "_native_batch_norm_legit_functional.default layer_norm.default native_layer_norm.default "
    "group_norm.default native_group_norm.default rms_norm.default"
)
NORMALISATIONS |= {
    "_native_batch_norm_legit.no_stats": "aten.batch_norm_no_stats",
    "softmax.int": "aten.softmax",
    "_softmax.default": "op.softmax({0}, axis={1})",
    "log_softmax.int": "aten.log_softmax",
    "_log_softmax.default": "op.log_softmax({0}, axis={1})",
}
REDUCTIONS = _named(
    "sum.default sum.dim_IntList mean.default mean.dim prod.default prod.dim_int var.correction var_mean.correction "
    "logsumexp.default linalg_vector_norm.default cumsum.default any.default any.dim any.dims all.default"
)
REDUCTIONS |= {
    "amax.default": "aten.amax",
    "amin.default": "aten.amin",
    "max.dim": "aten.max_along",
    "min.dim": "aten.min_along",
    "max.default": "aten.max_of_all",
    "min.default": "aten.min_of_all",
    "argmax.default": "aten.argmax",
    "argmin.default": "aten.argmin",
}
SHAPES = {
    **dict.fromkeys(("view.default", "_unsafe_view.default"), "np.reshape({0}, {1})"),
    "permute.default": "np.transpose({0}, {1})",
    "transpose.int": "np.swapaxes({0}, {1}, {2})",
    "t.default": "{0}.T",
    "expand.default": "aten.expand",
    "squeeze.dim": "aten.squeeze",
    "squeeze.dims": "aten.squeeze",
    "squeeze.default": "np.squeeze({0})",
    "unsqueeze.default": "np.expand_dims({0}, {1})",
    "cat.default": "np.concatenate",
    "stack.default": "np.stack",
    "split.Tensor": "aten.split",
    "split_with_sizes.default": "aten.split_with_sizes",
    "slice.Tensor": "aten.slice",
    "select.int": "aten.select",
    "slice_scatter.default": "aten.slice_scatter",
    "select_scatter.default": "aten.select_scatter",
    "repeat.default": "np.tile({0}, {1})",
    "diagonal.default": "np.diagonal",
    "flip.default": "np.flip({0}, {1})",
    "roll.default": "np.roll",
    "constant_pad_nd.default": "aten.constant_pad_nd",
    "tril.default": "np.tril",
    "triu.default": "np.triu",
    "copy.default": "aten.copy",
    "full.default": "aten.full",
    "full_like.default": "aten.full_like",
    "arange.start_step": "np.arange",
    "scalar_tensor.default": "aten.scalar_tensor",
    "_to_copy.default": "aten.to_copy",
    "detach.default": "aten.detach",
    "sym_size.int": "{0}.shape[{1}]",
    "index.Tensor": "aten.index",
    "index_select.default": "np.take({0}, {2}, {1})",
    "gather.default": "aten.gather",
    "embedding.default": "aten.embedding",
    "pixel_shuffle.default": "aten.pixel_shuffle",
}
LAYERS = _named("scaled_dot_product_attention.default lstm.input gru.input nll_loss_forward.default mse_loss.default")
OPERATORS: dict[str, str] = {
    **UNARY,
    **BINARY,
    **ACTIVATIONS,
    **LINEAR,
    **POOLING,
    **NORMALISATIONS,
    **REDUCTIONS,
    **SHAPES,
    **LAYERS,
}
# Keywords of operators that say where and how a tensor is stored, which makes no difference to its values.
STORAGE = frozenset({"layout", "device", "pin_memory", "memory_format", "non_blocking"})
REFUSED: dict[str, str] = {
    **dict.fromkeys(
        ("native_dropout", "bernoulli", "rand", "randn", "rand_like", "randn_like", "randint", "normal_functional"),
        "it draws random numbers, which two runs do not have in common",
    ),
    **dict.fromkeys(("nonzero", "unique2", "_unique2", "masked_select"), "the shape of its result depends on data"),
    "wrap_with_set_grad_enabled": "gradients are switched on or off for a part",
    "wrap_with_autocast": "a part runs in a precision of its own",
    **dict.fromkeys(("cond", "while_loop", "scan", "map_impl"), "a part runs as often as the data say"),
}
