"""The data of the loops that the tests start: 1000 points around four centres."""

import numpy
import torch

random = numpy.random.default_rng(0)
_centres = random.normal(size=(4, 12))
_classes = random.integers(0, 4, size=1000)
points = torch.from_numpy((_centres[_classes] + 0.7 * random.normal(size=(1000, 12))).astype(numpy.float32))
labels = torch.from_numpy(_classes)
