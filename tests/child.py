"""Python in a process of its own."""

import json
import subprocess
import sys

DEADLOCK = 1200  # seconds after which it is one, on a busy machine too


def printed(*arguments, refused=(), **more):
    """What Python with these arguments prints last, as JSON; none of the words `refused` may be on standard error."""
    command = [sys.executable, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=DEADLOCK, check=False, **more)
    assert run.returncode == 0 and not [word for word in refused if word in run.stderr], run.stderr
    return json.loads(run.stdout.splitlines()[-1])
