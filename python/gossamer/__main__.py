"""The command gossamer: ``python -m gossamer launch --hosts localhost:4 -- python train.py``."""

import signal
import sys

from . import _gossamer


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as in the command without Python, which has its own way with it
    return _gossamer.main(sys.argv)


if __name__ == "__main__":
    sys.exit(main())
