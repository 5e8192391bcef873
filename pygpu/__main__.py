"""`python -m pygpu`: see pygpu/cli.py."""

import sys

from pygpu.cli import main

if __name__ == "__main__":
    sys.exit(main())
