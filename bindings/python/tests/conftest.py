"""Tests run on the simulator, unless the environment names a GPU for arrays in host memory."""

import os

os.environ.setdefault("TILEWRIGHT_DEVICE", "sim")
