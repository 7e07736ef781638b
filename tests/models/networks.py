"""Networks, and inputs for them."""

import torch
from torch import nn


def randomised(module, seed=0):
    """A module whose parameters and running statistics are all different."""
    generator = torch.Generator().manual_seed(seed)
    for one in [*module.parameters(), *(b for b in module.buffers() if b.is_floating_point())]:
        one.data.add_(torch.rand(one.shape, generator=generator) * 0.2)
    return module


def inputs(*shapes, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def mlp():
    layers = nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3), nn.LogSoftmax(1)
    torch.manual_seed(0)
    return nn.Sequential(*layers), inputs((4, 6))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x.flatten(1))))))


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 4, 3), nn.Linear(4 * 13 * 13, 5)

    def forward(self, x):
        return self.fc(nn.functional.avg_pool2d(torch.tanh(self.conv(x)), 2).flatten(1))


def small():
    torch.manual_seed(0)
    return Small(), inputs((4, 1, 28, 28))


def lenet():
    torch.manual_seed(0)
    return LeNet(), inputs((4, 1, 28, 28))


class Block(nn.Module):
    """A residual block of two convolutions, with a projection."""

    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(3, 6, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(6)
        self.conv2, self.norm2 = nn.Conv2d(6, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6)
        self.conv3, self.norm3 = nn.Conv2d(3, 6, 1, stride=2, bias=False), nn.BatchNorm2d(6)

    def forward(self, x):
        y = self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        return torch.relu(y + self.norm3(self.conv3(x)))


def residual():
    torch.manual_seed(0)
    return randomised(Block()), inputs((2, 3, 8, 8))


def residual_in_use():
    module, x = residual()
    return module.eval(), x


class Transformer(nn.Module):
    """A transformer block: attention of several heads, and a network, each after a layer norm."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.network(self.norm2(x))


def transformer():
    torch.manual_seed(0)
    return randomised(Transformer()), inputs((2, 5, 32))


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)

    def forward(self, x, h, c):
        return self.cell(x, (h, c))


def lstm_cell():
    torch.manual_seed(0)
    return Cell(), inputs((2, 3), (2, 4), (2, 4))


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, 4)

    def forward(self, x):
        return self.gru(self.lstm(x)[0])[0]


def gated():
    torch.manual_seed(0)
    return Gated(), inputs((2, 5, 3))


class Tied(nn.Module):
    """A table of words that is read and written by one parameter."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(7, 5, padding_idx=0), nn.Linear(5, 7, bias=False)
        self.out.weight = self.table.weight

    def forward(self, words):
        return self.out(torch.tanh(self.table(words)))


def tied():
    torch.manual_seed(0)
    return Tied(), (torch.tensor([[0, 1, 2], [3, 6, 1]]),)


NETWORKS = [mlp, lenet, residual, residual_in_use, transformer, lstm_cell, gated, tied]


class Parts(nn.Module):
    def forward(self, x, w):
        f = nn.functional
        x = f.layer_norm(x, (4,), w) + f.softmax(x, 1) + f.log_softmax(x, 2)
        return torch.sin(f.group_norm(x, 2) + f.linear(x, w * torch.ones(4, 1))).sum()


def decomposed():
    """An exported program whose operators have all been taken apart by PyTorch."""
    x = inputs((2, 4, 4), (4,))
    return torch.export.export(Parts(), x).run_decompositions(), x
