#!/usr/bin/env python3
"""Prints the losses of PyTorch in 20 steps of plain SGD, with the models of compute/torch/networks.

    tests/torch/golden.py | clang-format >tests/torch/golden.hpp

torch_golden_test.cpp does the same steps. Both begin at the same numbers, given by formulas, and see the same samples.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

STEPS, BATCH, LEARNING_RATE = 20, 8, 0.05


class Cnn(nn.Module):
    def __init__(self, side=8, width=4, hidden=16, classes=3):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 5, padding=2)
        self.conv2 = nn.Conv2d(width, 2 * width, 5, padding=2)
        self.fc1 = nn.Linear(2 * width * (side // 4) ** 2, hidden)
        self.fc2 = nn.Linear(hidden, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.stride, self.more = stride, after - before
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        x = x[:, :, :: self.stride, :: self.stride]
        return F.relu(y + F.pad(x, (0, 0, 0, 0, self.more // 2, self.more - self.more // 2)))


class Resnet(nn.Module):
    def __init__(self, channels=1, depth=8, width=4, classes=3):
        super().__init__()
        more = range((depth - 2) // 6 - 1)
        self.conv1 = nn.Conv2d(channels, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = nn.Sequential(Block(width, width, 1), *[Block(width, width, 1) for _ in more])
        self.layer2 = nn.Sequential(Block(width, 2 * width, 2), *[Block(2 * width, 2 * width, 1) for _ in more])
        self.layer3 = nn.Sequential(Block(2 * width, 4 * width, 2), *[Block(4 * width, 4 * width, 1) for _ in more])
        self.fc = nn.Linear(4 * width, classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
        return self.fc(x.mean((2, 3)))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Linear(width, 4 * width)
        self.mlp_out = nn.Linear(4 * width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2) for t in self.attention(self.norm1(x)).chunk(3, -1))
        scores = q @ k.transpose(2, 3) / math.sqrt(width / self.heads)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        seen = scores.masked_fill(future, -math.inf).softmax(-1) @ v
        x = x + self.attention_out(seen.transpose(1, 2).reshape(n, length, width))
        return x + self.mlp_out(F.gelu(self.mlp(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, layers=1, width=8, heads=2, context=6):
        super().__init__()
        self.token = nn.Embedding(256, width)
        self.position = nn.Embedding(context, width)
        self.layers = layers
        for k in range(layers):
            self.add_module(f"layer{k}", Layer(width, heads))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 256, bias=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
        for k in range(self.layers):
            x = getattr(self, f"layer{k}")(x)
        return self.head(self.norm(x))


def wave(count, pace):
    """Returns sin(pace k). Both languages have the same 32-bit numbers but for the last bit."""
    return torch.tensor([math.sin(pace * k) for k in range(count)], dtype=torch.float32)


def begin(model):
    with torch.no_grad():
        for name, p in model.named_parameters():
            is_factor = p.dim() == 1 and name.endswith("weight")
            p.copy_((0.3 * wave(p.numel(), 0.7)).view(p.shape) + (1 if is_factor else 0))


def losses(model, samples, loss_of):
    begin(model)
    model.train()
    optimiser = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    result = []
    for t in range(STEPS):
        first = t * BATCH
        loss = loss_of(model, samples[first : first + BATCH], torch.arange(first, first + BATCH))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        result.append(loss.item())
    return result


def of_pictures(model, inputs, numbers):
    return F.cross_entropy(model(inputs), numbers % 3)


def of_text(model, inputs, numbers):
    logits = model(inputs[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), inputs[:, 1:].flatten())


def main():
    torch.set_num_threads(1)
    pictures = wave(STEPS * BATCH * 64, 0.13).view(-1, 1, 8, 8)
    text = torch.tensor([(k * k + 3 * k) % 31 for k in range(STEPS * BATCH * 6 + 1)])
    windows = torch.stack([text[6 * i : 6 * i + 7] for i in range(STEPS * BATCH)])
    rows = {
        "cnn": losses(Cnn(), pictures, of_pictures),
        "resnet": losses(Resnet(), pictures, of_pictures),
        "transformer": losses(Transformer(), windows, of_text),
    }
    print("#pragma once\n")
    print(f"// Written by golden.py, which says what it is, with PyTorch {torch.__version__}.\n")
    print("namespace gossamer::test {\n")
    for name, values in rows.items():
        print(f"constexpr double {name}_losses[] = {{", end="")
        for i, value in enumerate(values):
            print(("\n    " if i % 5 == 0 else " ") + f"{value:.7g},", end="")
        print("\n};")
    print("\n} // namespace gossamer::test")


if __name__ == "__main__":
    main()
