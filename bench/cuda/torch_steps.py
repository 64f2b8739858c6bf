#!/usr/bin/env python3
"""Steps per second of PyTorch for the networks of gpu_gradient_bench: torch_steps.py [minibatch, 128] [steps, 200]"""

import sys
import time

try:
    import torch
except ImportError:
    sys.exit("torch_steps.py needs PyTorch")
if not torch.cuda.is_available():
    sys.exit("torch_steps.py needs a GPU that PyTorch can use")

BATCH = int(sys.argv[1]) if len(sys.argv) > 1 else 128
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 200
SAMPLES = 10_000

torch.manual_seed(1)
torch.backends.cuda.matmul.allow_tf32 = False
images = torch.rand(SAMPLES, 784, device="cuda")
labels = torch.randint(10, (SAMPLES,), device="cuda")

print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, minibatches of {BATCH}, {STEPS} steps\n")
print("| MLP | steps/s |\n|---|---|")
for hidden in ([100], [2048, 2048]):
    widths = [784, *hidden, 10]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1]).cuda()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)

    def run(steps):
        for t in range(steps):
            first = t * BATCH % (SAMPLES - BATCH)
            optimiser.zero_grad()
            output = model(images[first:first + BATCH])
            torch.nn.functional.cross_entropy(output, labels[first:first + BATCH]).backward()
            optimiser.step()
        torch.cuda.synchronize()

    run(10)
    began = time.perf_counter()
    run(STEPS)
    print(f"| 784, {'+'.join(map(str, hidden))}, 10 | {STEPS / (time.perf_counter() - began):.0f} |")
