"""DiLoCo (Douillard and others, 2023) over a group of processes: an algorithm that is the program's own.

Each member makes some steps of AdamW. Then all average what these have changed, and Nesterov's momentum applies it.
"""

import gossamer
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector, vector_to_parameters

inner_steps, rounds = 20, 15


def drawn(count, seed):
    """Points of ten clusters in 32 dimensions: the data set of this example."""
    random = torch.Generator().manual_seed(seed)
    centres = torch.randn(10, 32, generator=torch.Generator().manual_seed(0))
    labels = torch.randint(10, (count,), generator=random)
    return centres[labels] + 1.2 * torch.randn(count, 32, generator=random), labels


def main():
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    inner = torch.optim.AdamW(net.parameters(), lr=3e-3)
    with gossamer.collectives() as group:
        points, labels = drawn(4000, seed=1 + group.rank)  # of this member
        x = group.broadcast(parameters_to_vector(net.parameters()).detach())
        momentum = torch.zeros_like(x)
        for _ in range(rounds):
            vector_to_parameters(x.clone(), net.parameters())
            for _ in range(inner_steps):
                chosen = torch.randint(len(points), (32,))
                inner.zero_grad()
                cross_entropy(net(points[chosen]), labels[chosen]).backward()
                inner.step()
            change = x - parameters_to_vector(net.parameters()).detach()
            group.all_reduce(change, codec="uniform:bits=8")  # the mean of those that live, the same bits everywhere
            momentum = 0.9 * momentum + change
            x -= 0.7 * (change + 0.9 * momentum)
        sent = group.sent

    if group.rank == min(group.members):
        vector_to_parameters(x, net.parameters())
        points, labels = drawn(1000, seed=0)
        accuracy = (net(points).argmax(1) == labels).float().mean()
        print(f"accuracy {accuracy:.3f} with {group.size} members; {sent.payload_bits / 1e6:.1f} Mb sent by each")


if __name__ == "__main__":
    main()
