"""What a call warns of."""

import warnings


def warnings_of(call):
    """The texts of its warnings, wherever it is called from."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in seen]
