"""The command line, called in this process, and a folder of LETOR text for it."""

import numpy as np

from lambdaboost.cli.run import app, run
from lambdaboost.datasets import Collection, write_letor

COMMANDS = {info.callback.__name__: info.callback for info in app.registered_commands}
SMALL = {"lightgbm": ("--param", "min_data_in_leaf=5"), "xgboost": ("--param", "min_child_weight=0")}


def write_parts(folder, log, **parts):
    """Queries of a search log of 16 features as files train.txt, … of LETOR text; column 17 holds clicks."""
    for name, queries in parts.items():
        part = log.take(list(queries))
        clicks = np.round(part.queries.labels["clicks"] * 200)
        features = np.column_stack([part.features, clicks]).astype(np.float32)
        write_letor(folder / f"{name}.txt", Collection(features, part.queries))
    return folder


def call(capsys, *args):
    """Exit code, standard output and standard error of one command."""
    capsys.readouterr()
    code = run([str(a) for a in args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def done(capsys, *args):
    """Standard output and standard error of a command that succeeds."""
    code, out, err = call(capsys, *args)
    assert code == 0, err
    return out, err


def refused(capsys, *args):
    """The one line that a mistake is answered with."""
    code, out, err = call(capsys, *args)
    assert (code, out) == (2 if " --help.\n" in err else 1, "")
    assert err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err
    return err
