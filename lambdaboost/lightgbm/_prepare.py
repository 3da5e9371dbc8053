"""What a LightGBM booster needs before its first round under an objective that is not its own."""

from __future__ import annotations

from typing import Any

BOOSTING = ("boosting", "boosting_type", "boost")

# LightGBM notes here that a booster has no objective of its own, after resetting the booster's parameters.
_RESET = "_Booster__set_objective_to_none"


def prepare(booster: Any, params: dict[str, Any]) -> None:
    """Use the engine's own random sequence, the same in every run.

    The first `Booster.update` with such an objective resets the booster's parameters. `lightgbm.train` made the
    booster without objective, so this changes nothing but the draw of features (`feature_fraction`), and fails where no
    feature is of use: it is left out.

    DART remembers whether it has dropped trees in a round, but not from the start: memory as it comes decides whether
    the first round draws a number. Asked for its scores and then reset, it has dropped none and drawn none.
    """
    if any(params.get(name) == "dart" for name in BOOSTING):
        booster.eval_train(lambda *_: [])
        booster.reset_parameter({"objective": "none"})
    setattr(booster, _RESET, True)
