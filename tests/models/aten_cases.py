"""Functions of tensors that cover the operators of ATen, in batches that are one module each."""

import torch
from torch import nn
from torch.nn import functional as f

from tests.models.numbers import floats


def tensor(*shape, **options):
    return torch.from_numpy(floats(*shape, **options))


X, Y, POSITIVE = tensor(2, 3), tensor(2, 3, seed=5), tensor(2, 3, low=0.5)
UNIT, IMAGE, LINE, VOLUME = tensor(2, 3, low=-0.9, high=0.9), tensor(2, 4, 6, 5), tensor(2, 4, 7), tensor(1, 2, 3, 3, 3)
PLACES = torch.tensor([[0, 2], [1, 1]])


class Batch(nn.Module):
    """The sum of sines of what functions make of inputs of their own."""

    def __init__(self, cases):
        super().__init__()
        self.functions = [one for one, *_ in cases]
        self.counts = [len(inputs) for _, *inputs in cases]

    def forward(self, *inputs):
        total, k = 0.0, 0
        for function, count in zip(self.functions, self.counts, strict=True):
            result = function(*inputs[k : k + count])
            k += count
            for one in result if isinstance(result, (tuple, list)) else (result,):
                total = total + torch.sin(one * 1.0).sum()
        return total


UNARY = [
    *(
        (getattr(torch, name), X)
        for name in [
            "abs",
            "ceil",
            "cos",
            "cosh",
            "exp",
            "exp2",
            "expm1",
            "floor",
            "sin",
            "sinh",
            "tanh",
            "trunc",
            "sign",
        ]
    ),
    *(
        (getattr(torch, name), X)
        for name in ["neg", "reciprocal", "square", "round", "erf", "sigmoid", "relu", "asinh", "atan"]
    ),
    *((getattr(torch, name), POSITIVE) for name in ["log", "log10", "log1p", "log2", "sqrt", "rsqrt"]),
    *((getattr(torch, name), UNIT) for name in ["acos", "asin", "atanh", "tan"]),
    (lambda x: torch.acosh(x + 1), POSITIVE),
    *(
        (getattr(f, name), X)
        for name in ["hardswish", "silu", "mish", "gelu", "elu", "leaky_relu", "hardtanh", "softplus", "hardsigmoid"]
    ),
    *(
        (getattr(f, name), X)
        for name in ["selu", "relu6", "celu", "softsign", "logsigmoid", "hardshrink", "softshrink", "tanhshrink"]
    ),
    (lambda x: f.gelu(x, approximate="tanh"), X),
    (lambda x: f.leaky_relu(x, 0.3) + f.elu(x, 0.7) + f.softplus(x, 2.0, 1.5) + f.hardtanh(x, -0.3, 0.9), X),
    (lambda x: f.softmax(x, 1, dtype=torch.float64) + f.log_softmax(x, 0) + f.softmin(x, 0), X),
    (lambda x: f.glu(torch.cat([x, x * 2], 1)) + f.prelu(x, torch.tensor([0.3])), X),
    (lambda x: x.clamp(-0.5, 0.7) + x.clamp(min=0.1) + x.clamp(max=0.4) + torch.clamp(x, min=x * 0.5), X),
    (lambda x: torch.where(torch.isnan(x) | torch.isinf(x), x, 2 * x), X),
    (lambda x: x.detach() * x + x.clone().contiguous() + f.dropout(x, training=False), X),
]
BINARY = [
    (lambda x, y: x + y * (2 * x) - y + torch.add(x, y, alpha=2) - torch.sub(x, y, alpha=3), X, Y),
    (lambda x, y: x / y + x / 3 + 2 / y - (1 - x) + torch.rsub(x, y, alpha=2), X, Y),
    (lambda x, y: torch.div(x, y, rounding_mode="floor") + torch.div(x, 0.3, rounding_mode="trunc"), X, Y),
    (lambda x, y: x**2 + POSITIVE**y + 2.0**x, X, Y),
    (lambda x, y: torch.maximum(x, y) * torch.minimum(x, y) * torch.atan2(x, y), X, Y),
    (
        lambda x, y: torch.where(x > y, x, 3 * y) + torch.where(x > 0, x, 2.0) + torch.where((x < y) & (x >= 0), x, y),
        X,
        Y,
    ),
    (lambda x, y: torch.where((x <= y) | (x == 0), x, y) + torch.where((x != 0) & ~(x < 0.5), x, y), X, Y),
    (lambda x, y: x.masked_fill(x > y, 0.3) + x.masked_fill(y >= x, torch.tensor(2.0)), X, Y),
    (lambda x, y: x * (x == y) + y * (x != y) + x * (x <= 0.3), X, Y),
    (lambda x, y: x * torch.logical_and(x > 0, y > 0) + y * torch.logical_or(x > 0, y > 0), X, Y),
    (lambda x, y: x * torch.logical_xor(x > 0, y > 0) + y * torch.logical_not(x > 0), X, Y),
    (
        lambda x, y: (
            torch.remainder(x, 0.7) + torch.fmod(y, 0.7) + torch.remainder(x, y.detach()) + torch.fmod(x, y.detach())
        ),
        X,
        Y,
    ),
    (lambda x, y: torch.lerp(x, y, 0.3) + torch.addcmul(x, x, y) + torch.addcdiv(x, x, y) + torch.hypot(x, y), X, Y),
    (lambda x, w: x.mm(w) + torch.addmm(w[0], x, w, beta=2, alpha=0.5), X, tensor(3, 3)),
    (lambda a, b: torch.bmm(a, b) + torch.baddbmm(b[:, :2], a, b, beta=0.5) + a @ b, tensor(2, 2, 3), tensor(2, 3, 3)),
    (lambda a, v: a.mv(v) + v.dot(v) + torch.einsum("ij, j->i", a, v) + torch.outer(v[:2], v)[:, 0], X, tensor(3)),
    (lambda x, w: f.linear(x, w), X, tensor(3, 3)),
    (
        lambda x, y: f.mse_loss(x, y) + f.mse_loss(x, y, reduction="sum") + f.smooth_l1_loss(x, y) + f.l1_loss(x, y),
        X,
        Y,
    ),
    (lambda x, y: f.huber_loss(x, y) + f.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"), X, Y),
    (lambda x, y: f.binary_cross_entropy_with_logits(x, torch.sigmoid(y)) + f.cosine_similarity(x, y).sum(), X, Y),
    (lambda x: f.cross_entropy(x, torch.tensor([0, 2])) + f.nll_loss(x, torch.tensor([1, -100]), reduction="sum"), X),
    (lambda x: f.cross_entropy(x, torch.tensor([0, 2]), weight=torch.tensor([1.0, 2.0, 3.0]), label_smoothing=0.1), X),
]
REDUCTIONS = [
    (lambda x: (x.sum(), x.sum(1), x.mean(), x.mean((0, 2), keepdim=True), x.sum((0, -1))), tensor(2, 3, 4)),
    (lambda x: (x.prod(), x.prod(1), x.amax(1, True), x.amin((0, 1)), x.max(), x.min()), X),
    (lambda x: (x.max(1)[0], x.min(0, keepdim=True)[0], torch.logsumexp(x, 1, True), x.logsumexp((0, 1))), X),
    (lambda x: (x.var(1, keepdim=True), x.std(), *torch.var_mean(x, 0, correction=0)), X),
    (
        lambda x: (
            x.norm(),
            x.norm(1),
            torch.linalg.vector_norm(x, 3, 1),
            torch.linalg.vector_norm(x, float("inf"), 0),
        ),
        X,
    ),
    (lambda x: (x.cumsum(0), f.normalize(x), x * (x > 0).any(), x * (x > -9).all(), x * (x > 1).any(1, True)), X),
    (lambda x: (x * x.argmax(), x * x.argmin(1, keepdim=True), x * x.argmax(0)), X),
    (lambda x: x * torch.any(x > 1, dim=(0, 1)), X),
]
SHAPES = [
    (lambda x: (x.view(3, 2), x.reshape(-1), x.flatten(), x.t(), x.permute(1, 0), x.transpose(0, 1), x.T), X),
    (lambda x: (x.expand(4, 2, 3), x[None].expand(-1, 2, -1), x.repeat(2, 1), x.unsqueeze(-1), x.tile(3)), X),
    (lambda x: (x.squeeze(), x.squeeze(0), x.squeeze((0, 2)), x.squeeze(1)), tensor(1, 3, 1)),
    (lambda x, y: (torch.cat([x, y], 1), torch.stack([x, y], 1), torch.hstack([x, y])), X, Y),
    (lambda x: (*x.split(2), *x.split([1, 3, 1]), *x.chunk(2), *x.unbind(1), *torch.tensor_split(x, 2)), tensor(5, 2)),
    (lambda x: (x[1:, ::2], x[..., -1], x[:, 1:-1], x[0], x.narrow(1, 1, 2), x.select(1, -1)), tensor(3, 4)),
    (lambda x: (x.flip(0), x.roll(1, 1), x.roll((1, 2), (0, 1)), x.tril(), x.triu(1), torch.diagonal(x)), tensor(3, 4)),
    (lambda x: (f.pad(x, (1, 2)), f.pad(x, (1, -1, 0, 2), value=0.5), f.pad(x[None], (1, 1), mode="reflect")), X),
    (lambda x: (x[:, PLACES], x[torch.tensor([1, 0]), torch.tensor([2, 0])], x.index_select(1, PLACES[0])), X),
    (lambda x: (x.gather(1, PLACES), torch.take_along_dim(x, PLACES, 1), x.gather(0, torch.tensor([[1, 0]]))), X),
    (lambda w: f.embedding(PLACES, w, padding_idx=0), tensor(3, 2)),
    (lambda x: torch.ones_like(x) * x + torch.zeros_like(x) + torch.full((2, 3), 0.5) * x + torch.arange(3.0) * x, X),
    (lambda x: x.to(torch.float64) * 2 + x.double() * torch.tensor(0.5, dtype=torch.float64), X),
    (lambda x: f.pixel_shuffle(x, 2), IMAGE),
]


def assigned(x):
    """Assignments to parts, which become functions."""
    y = x * 1.0
    y[0, 1] = 2.0
    y[:, 0] += 1.0
    y[1] = y[0] * 2
    y[:, 1:] *= 3.0
    return y


SHAPES.append((assigned, X))
WINDOWS = [
    (
        lambda x, w, b: f.conv2d(x, w, b, stride=(2, 1), padding=1, dilation=(1, 2)),
        IMAGE,
        tensor(3, 4, 3, 2),
        tensor(3),
    ),
    (lambda x, w: f.conv2d(x, w, groups=2, padding="same"), IMAGE, tensor(4, 2, 3, 3)),
    (lambda x, w: f.conv1d(x, w, padding=1), LINE, tensor(3, 4, 3)),
    (
        lambda x, w, b: f.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
        IMAGE,
        tensor(4, 3, 3, 3),
        tensor(3),
    ),
    (
        lambda x: (f.max_pool2d(x, 3, 2, 1), f.max_pool2d(x[0], 2, ceil_mode=True), f.max_pool2d(x, 2, 1, dilation=2)),
        IMAGE,
    ),
    (lambda x: (f.max_pool1d(x, 2), f.avg_pool1d(x, 3, 2, 1)), LINE),
    (lambda x: (f.max_pool3d(x, 2), f.avg_pool3d(x, 2, 1)), VOLUME),
    (
        lambda x: (
            f.avg_pool2d(x, 3, 2, 1),
            f.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
            f.avg_pool2d(x, 2, ceil_mode=True),
        ),
        IMAGE,
    ),
    (lambda x: (f.adaptive_avg_pool2d(x, (3, 2)), f.adaptive_avg_pool2d(x, 1)), IMAGE),
]
LAYERS = [
    (lambda x, w, b: f.layer_norm(x, (6, 5), w, b), IMAGE, tensor(6, 5), tensor(6, 5, seed=1)),
    (lambda x, w, b: f.group_norm(x, 2, w, b), IMAGE, tensor(4), tensor(4, seed=1)),
    (lambda x, w: f.rms_norm(x, (5,), w, 1e-5), IMAGE, tensor(5)),
    (lambda x: f.instance_norm(x), IMAGE),
    (lambda x, w: f.batch_norm(x, torch.zeros(4), torch.ones(4), w, training=False), IMAGE, tensor(4)),
    (lambda x, w: f.batch_norm(x, None, None, w, training=True), IMAGE, tensor(4)),
    (
        lambda q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.7),
        *(tensor(2, 2, 3, 4, seed=s) for s in range(3)),
    ),
    (
        lambda q, k: f.scaled_dot_product_attention(q, k, k, attn_mask=torch.tensor([[True, False], [False, False]])),
        tensor(1, 2, 3),
        tensor(1, 2, 3, seed=1),
    ),
    (lambda q, m: f.scaled_dot_product_attention(q, q, q, attn_mask=m), tensor(1, 2, 3), tensor(2, 2)),
]
BATCHES = {
    "layers": LAYERS, "unary": UNARY, "binary": BINARY, "reductions": REDUCTIONS, "shapes": SHAPES, "windows": WINDOWS,
}  # fmt: skip
