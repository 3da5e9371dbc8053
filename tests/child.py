"""Python in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

DEADLOCK = 1200  # seconds after which it is one, on a busy machine too


def printed(*arguments, refused=(), env=os.environ):
    """What Python with these arguments prints last, as JSON; none of the words `refused` may be on standard error.

    It can import the modules of this folder, such as `trainings`.
    """
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent), env.get("PYTHONPATH")]))
    given = {"capture_output": True, "text": True, "timeout": DEADLOCK, "check": False}
    command = [sys.executable, *map(str, arguments)]
    run = subprocess.run(command, env={**env, "PYTHONPATH": path}, **given)
    assert run.returncode == 0 and not [word for word in refused if word in run.stderr], run.stderr
    return json.loads(run.stdout.splitlines()[-1])
