"""The command ``flagstaff``, and ``python -m flagstaff``."""

from app.operations.cli import main

if __name__ == "__main__":
    main()
