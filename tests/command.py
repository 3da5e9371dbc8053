"""The command line, called in this process."""

from lambdaboost.cli.run import run


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
