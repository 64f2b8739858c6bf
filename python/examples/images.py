"""An image model with a DataLoader and AdamW, in as many processes as the launcher starts."""

import gossamer.torch
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    """Bars, crosses, boxes and dots of 16 x 16 pixels, drawn with noise: the data set of this example."""

    def __init__(self, first, count):
        self.first, self.count = first, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        random = torch.Generator().manual_seed(self.first + index)
        kind = (self.first + index) % 4
        row, column = torch.randint(2, 8, (2,), generator=random).tolist()
        image = 0.4 * torch.randn(1, 16, 16, generator=random)
        if kind in (0, 1):
            image[0, row + 3, column : column + 7] += 1
        if kind == 1:
            image[0, row : row + 7, column + 3] += 1
        if kind == 2:
            image[0, row : row + 6, column : column + 6] += 0.5
        if kind == 3:
            image[0, row : row + 7 : 2, column : column + 7 : 2] += 1
        return image, kind


def main():
    torch.set_num_threads(1)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 4),
    )
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=500)
    test_images, test_kinds = next(iter(DataLoader(Shapes(100_000, 400), batch_size=400)))

    def evaluate(model):
        scores = model(test_images)
        return cross_entropy(scores, test_kinds), (scores.argmax(1) == test_kinds).float().mean()

    data = Shapes(0, 4000)
    with gossamer.torch.join(
        net,
        optimiser,
        samples=len(data),
        batch=32,
        epochs=8,
        evaluate=evaluate,
        algorithm="ad-psgd",
        codec="uniform:bits=8",
    ) as run:
        run.keep(scheduler=scheduler)
        # A process of the loader's draws this worker's share of the images.
        loader = DataLoader(data, batch_sampler=run.batch_sampler, num_workers=1, persistent_workers=True)
        for step, (images, kinds) in run.with_batches(loader):
            optimiser.zero_grad()
            loss = cross_entropy(net(images), kinds)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            scheduler.step()
            step.done(loss)

    if run.leads:
        torch.save(run.state_dict(), "shapes.pt")  # the mean of all models
        print(f"accuracy {run.summary['test_accuracy']:.3f}; shapes.pt holds the model")


if __name__ == "__main__":
    main()
