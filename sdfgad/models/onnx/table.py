"""The operators of ONNX: what is written for each, which inputs must be known, which attributes have which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Operator:
    """What stands for an operator.

    Attributes:
        call: the function, whose keywords are the attributes; or an expression with {0}, {1} for its inputs.
        known: the inputs that become numbers or tuples of numbers in the text where they are constants.
        outputs: how many values it returns; 0 for a list.
        only: the values of an attribute that are understood, where they are not all.
        inputs: the values of an input that are understood, where they are not all; None is one that is left out.
        ignored: attributes that make no difference.
        is_constant: whether its result has no derivative.
    """

    call: str
    known: tuple[int, ...] = ()
    outputs: int = 1
    only: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    inputs: Mapping[int, Sequence[Any]] = field(default_factory=dict)
    ignored: Sequence[str] = ()
    is_constant: bool = False


def _expressions(table: Mapping[str, str], is_constant: bool = False) -> dict[str, Operator]:
    return {name: Operator(call, is_constant=is_constant) for name, call in table.items()}


def _functions(names: str, **options: Any) -> dict[str, Operator]:
    return {name: Operator(f"op.{_snake(name)}", **options) for name in names.split()}


def _snake(name: str) -> str:
    """``LogSoftmax`` as ``log_softmax``, ``LSTM`` as ``lstm``, ``GatherND`` as ``gather_nd``."""
    letters = []
    for k, one in enumerate(name):
        follows_small = k > 0 and (name[k - 1].islower() or (name[k - 1].isdigit() and one.isupper()))
        starts_word = k > 0 and k + 1 < len(name) and name[k + 1].islower() and name[k - 1].isupper()
        letters.append("_" if one.isupper() and (follows_small or starts_word) else "")
        letters.append(one.lower())
    return "".join(letters)


UNARY = _expressions(
    {
        name: f"np.{name.lower()}({{0}})"
        for name in ["Abs", "Ceil", "Cos", "Cosh", "Exp", "Floor", "Log", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh"]
    }
    | {f"A{name[1:]}": f"np.arc{name[1:]}({{0}})" for name in ["Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh"]}
    | {"Neg": "-{0}", "Reciprocal": "1.0 / {0}", "Round": "np.rint({0})", "Identity": "op.identity({0})"}
    | {"Erf": "op.erf({0})"}
)
BINARY = _expressions({"Add": "{0} + {1}", "Sub": "{0} - {1}", "Mul": "{0} * {1}", "Div": "{0} / {1}"})
BINARY |= _expressions(
    {"MatMul": "{0} @ {1}", "Where": "np.where({0}, {1}, {2})", "CastLike": "op.cast_like({0}, {1})"}
)
STEPS = {name: Operator(UNARY[name].call, is_constant=True) for name in ("Ceil", "Floor", "Round", "Sign")}
LOGIC = _expressions(
    {"Equal": "{0} == {1}", "Greater": "{0} > {1}", "GreaterOrEqual": "{0} >= {1}", "Less": "{0} < {1}"}
    | {"LessOrEqual": "{0} <= {1}", "And": "np.logical_and({0}, {1})", "Or": "np.logical_or({0}, {1})"}
    | {"Xor": "np.logical_xor({0}, {1})", "Not": "np.logical_not({0})", "IsNaN": "np.isnan({0})"},
    is_constant=True,
)
ACTIVATIONS = _functions(
    "Relu LeakyRelu PRelu ThresholdedRelu Elu Selu Celu Sigmoid HardSigmoid HardSwish Swish Softplus Softsign Mish "
    "Shrink Gelu Softmax LogSoftmax"
) | {"Hardmax": Operator("op.hardmax", is_constant=True)}
LINEAR = _functions("Gemm Einsum Conv") | {
    "ConvTranspose": Operator("op.conv_transpose", only={"auto_pad": ("NOTSET", "VALID")}),
}
POOLING = _functions("AveragePool GlobalAveragePool GlobalMaxPool GlobalLpPool") | {
    "MaxPool": Operator("op.max_pool", only={"storage_order": (0,)}),
    "LpPool": Operator("op.lp_pool", only={"ceil_mode": (0,)}),
}
NORMALISATIONS = _functions(
    "InstanceNormalization RMSNormalization GroupNormalization MeanVarianceNormalization LpNormalization"
) | {
    "BatchNormalization": Operator("op.batch_normalization", outputs=3, ignored=("spatial",)),
    "LayerNormalization": Operator("op.layer_normalization", outputs=3),
    "LRN": Operator("op.lrn"),
}
REDUCTIONS = _functions(
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum "
    "ReduceLogSumExp",
    known=(1,),
) | {
    "ArgMax": Operator("op.arg_max", only={"select_last_index": (0,)}, is_constant=True),
    "ArgMin": Operator("op.arg_min", only={"select_last_index": (0,)}, is_constant=True),
    "CumSum": Operator("op.cum_sum", known=(1,)),
    "Max": Operator("op.maximum"),
    "Min": Operator("op.minimum"),
    "Sum": Operator("op.total"),
    "Mean": Operator("op.mean"),
    "Mod": Operator("op.mod"),
    "Pow": Operator("op.power", known=(1,)),
    "Clip": Operator("op.clip", known=(1, 2)),
    "IsInf": Operator("op.is_inf", is_constant=True),
}
SHAPES = _functions("Flatten Transpose Concat DepthToSpace SpaceToDepth") | {
    "Reshape": Operator("op.reshape", known=(1,)),
    "Squeeze": Operator("op.squeeze", known=(1,)),
    "Unsqueeze": Operator("op.unsqueeze", known=(1,)),
    "Split": Operator("op.split", known=(1,), outputs=0),
    "Slice": Operator("op.slice_axes", known=(1, 2, 3, 4)),
    "Expand": Operator("op.expand", known=(1,)),
    "Tile": Operator("op.tile", known=(1,)),
    "Pad": Operator("op.pad", known=(1, 2, 3), only={"mode": ("constant", "edge", "reflect", "wrap")}),
    "Trilu": Operator("op.trilu", known=(1,)),
    "Resize": Operator(
        "op.resize",
        known=(1, 2, 3),
        only={
            "mode": ("nearest", "linear"),
            "coordinate_transformation_mode": ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"),
            "antialias": (0,),
            "keep_aspect_ratio_policy": ("stretch",),
            "exclude_outside": (0,),
        },
        ignored=("cubic_coeff_a", "extrapolation_value"),
    ),
    "Dropout": Operator("op.dropout", known=(1, 2), inputs={2: (None, False)}),
    "Cast": Operator("op.cast", only={"saturate": (1,)}),
    "Constant": Operator("", is_constant=True),
    "ConstantOfShape": Operator("op.constant_of_shape", known=(0,), is_constant=True),
    "Shape": Operator("op.shape", is_constant=True),
    "Size": Operator("op.size", is_constant=True),
    "Range": Operator("np.arange({0}, {1}, {2})", known=(0, 1, 2), is_constant=True),
    "EyeLike": Operator("op.eye_like", is_constant=True),
}
INDEXING = _functions("Gather GatherElements") | {
    "GatherND": Operator("op.gather_nd", only={"batch_dims": (0,)}),
    "ScatterElements": Operator("op.scatter_elements", only={"reduction": ("none", "add")}),
    "ScatterND": Operator("op.scatter_nd", only={"reduction": ("none", "add")}),
    "OneHot": Operator("op.one_hot", known=(1,)),
    "TopK": Operator("op.top_k", known=(1,), outputs=2),
}
_LSTM, _GRU = ("Sigmoid", "Tanh", "Tanh"), ("Sigmoid", "Tanh")
LAYERS = {
    "LSTM": Operator(
        "op.lstm",
        outputs=3,
        only={"layout": (0,), "input_forget": (0,), "activations": (_LSTM, _LSTM * 2)},
        inputs={4: (None,)},
    ),
    "GRU": Operator("op.gru", outputs=2, only={"layout": (0,), "activations": (_GRU, _GRU * 2)}, inputs={4: (None,)}),
    "RNN": Operator(
        "op.rnn", outputs=2, only={"layout": (0,), "activations": (("Tanh",), ("Tanh",) * 2)}, inputs={4: (None,)}
    ),
    "NegativeLogLikelihoodLoss": Operator("op.negative_log_likelihood_loss"),
    "SoftmaxCrossEntropyLoss": Operator("op.softmax_cross_entropy_loss", outputs=2),
}
OPERATORS: dict[str, Operator] = {
    **UNARY,
    **STEPS,
    **BINARY,
    **LOGIC,
    **ACTIVATIONS,
    **LINEAR,
    **POOLING,
    **NORMALISATIONS,
    **REDUCTIONS,
    **SHAPES,
    **INDEXING,
    **LAYERS,
}
# What is refused, and why.
REFUSED: dict[str, str] = {
    **dict.fromkeys(("If", "Loop", "Scan"), "a part of the graph that runs as often as the data say"),
    **dict.fromkeys(("NonZero", "Unique", "Compress", "NonMaxSuppression"), "a result whose shape depends on data"),
    **dict.fromkeys(
        (
            "QuantizeLinear",
            "DequantizeLinear",
            "DynamicQuantizeLinear",
            "QLinearConv",
            "QLinearMatMul",
            "ConvInteger",
            "MatMulInteger",
        ),
        "quantised numbers",
    ),
    **dict.fromkeys(
        ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"),
        "random numbers, which two runs of a model do not have in common",
    ),
    **dict.fromkeys(
        ("SequenceAt", "SequenceConstruct", "SequenceInsert", "SplitToSequence", "ConcatFromSequence", "Optional"),
        "sequences and optional values",
    ),
    **dict.fromkeys(("StringNormalizer", "TfIdfVectorizer", "StringConcat", "RegexFullMatch"), "strings"),
}
