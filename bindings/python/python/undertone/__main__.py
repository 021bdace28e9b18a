"""``python -m undertone``: the command line."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line with this process's arguments."""
    # Ctrl-C ends the program, as in any other; Python would only make a note of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["undertone", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
