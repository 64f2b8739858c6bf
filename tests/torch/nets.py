"""Modules as users write them, for export_test.py, and for attention.pt, which a PyTorch after 1.13 has written:

    scripts/export_model.py export tests/torch/nets.py:Attention tests/torch/attention.pt
"""
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Samples of four numbers as two tokens."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(2, 6)
        self.out = nn.Linear(2, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.embed(x.view(-1, 2, 2)).chunk(3, -1)
        return self.out(F.scaled_dot_product_attention(q, k, v).mean(1))


class Encoder(nn.Module):
    """Pictures of 28 x 28 as seven tokens."""

    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Linear(112, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 2 * width, batch_first=True)
        self.out = nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(self.embed(x.reshape(-1, 7, 112))).mean(1))


class Dropping(nn.Module):
    """Dropout before batch normalisation, which sees what dropped out."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 5, stride=2)
        self.drop = nn.Dropout(0.3)
        self.norm = nn.BatchNorm2d(8)
        self.out = nn.Linear(8 * 12 * 12, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(torch.relu(self.norm(self.drop(self.conv(x)))).flatten(1))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(50, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.token(x).mean(1))
