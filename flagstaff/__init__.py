"""The name under which Flagstaff is installed: the wheel has ``app`` and its folders in here."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
if (HERE / "app").is_dir():  # first, since many other projects have a package called app
    sys.path.insert(0, str(HERE))
