"""Print the part of requirements.lock that thinkwire needs to run: without the tools of its developers.

python scripts/runtime_lock.py requirements.lock > runtime.lock
"""

import re
import sys
from pathlib import Path

ROOT = "thinkwire (pyproject.toml)"


def runtime_part(lock: str) -> str:
    """Keep the packages that the project or another kept package asks for, with their hashes."""
    blocks = {
        block.partition("==")[0]: block for block in re.split(r"(?m)^(?=[a-z0-9])", lock) if "==" in block
    }
    parents = {
        name: set(re.findall(r"(?m)^    # +(?:via )?(\S.*)$", block)) for name, block in blocks.items()
    }
    kept: set[str] = set()
    asking = {ROOT}
    while asking:
        asking = {name for name, above in parents.items() if above & asking} - kept
        kept |= asking
    return "".join(block for name, block in blocks.items() if name in kept)


if __name__ == "__main__":
    sys.stdout.write(runtime_part(Path(sys.argv[1]).read_text(encoding="utf-8")))
