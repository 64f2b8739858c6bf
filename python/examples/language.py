"""A small causal language model on bytes of English text, with eight local steps between two exchanges."""

import math
from pydoc_data.topics import topics  # 700 kB of English that come with Python

import gossamer.torch
import torch
from torch import nn
from torch.nn.functional import cross_entropy

context, width = 32, 48


class Language(nn.Module):
    """A transformer of one block. The table of bytes is tied to the output."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(128, width)
        self.place = nn.Embedding(context, width)
        self.block = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.05, batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.table.weight, std=0.1)
        self.register_buffer("mask", torch.triu(torch.full((context, context), -math.inf), diagonal=1))

    def forward(self, tokens):
        x = self.table(tokens) + self.place.weight
        return self.norm(self.block(x, src_mask=self.mask)) @ self.table.weight.T


def main():
    torch.set_num_threads(1)
    text = "\n".join(topics[name] for name in sorted(topics))
    tokens = torch.tensor([min(ord(letter), 127) for letter in text])
    windows = tokens.unfold(0, context + 1, context // 2)
    windows, held_out = windows[:-200], windows[-200:]

    def loss_of(model, some):
        return cross_entropy(model(some[:, :-1]).reshape(-1, 128), some[:, 1:].reshape(-1))

    net = Language()
    optimiser = torch.optim.AdamW(net.parameters(), lr=8e-3)
    with gossamer.torch.join(
        net,
        optimiser,
        samples=len(windows),
        batch=16,
        steps=1000,
        algorithm="local-sgd:period=8",
        evaluate=lambda model: loss_of(model, held_out),
    ) as run:
        for step in run:
            chosen = windows[step.samples]
            optimiser.zero_grad()
            loss = loss_of(net, chosen)
            loss.backward()
            optimiser.step()
            step.done(loss)

    if run.leads:
        bits = run.summary["test_loss"] / math.log(2)
        print(f"{bits:.2f} bits a letter on text that was held out")


if __name__ == "__main__":
    main()
