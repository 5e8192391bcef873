"""`python -m pygpu`: see pygpu/command/cli.py."""

import sys

from pygpu.command.cli import main

if __name__ == "__main__":
    sys.exit(main())
