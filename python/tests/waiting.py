"""What processes of the tests wait for."""

import os
import time


def await_file(path):
    while not os.path.exists(path):
        time.sleep(0.01)
