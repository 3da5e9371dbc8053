"""Measures read from text, without running it as code, and the measures used by default."""

from __future__ import annotations

import ast
import contextlib
import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from lambdaboost._words import LONGEST_SHOWN, quote
from lambdaboost.clicks.propensities import CURVES
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.correlations import Spearman
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.ndcg import CNDCG, NDCG
from lambdaboost.scoring import RENAMED

# "ndcg@10" as LightGBM and XGBoost write it, "nDCG@10" and "P@5" as trec_eval and ir_measures do, with the source and
# parameters as in `Measure.name`. XGBoost's results have "pre-" before names that it would minimise.
SHORT = re.compile(r"\s*(?:pre-)?(?P<name>[^\W\d]\w*)(@(?P<k>[0-9]{1,10}))?(?P<parts>(-[\w.]+)*)\s*")
HIGHEST_GRADE = 31  # that LightGBM takes; numbers above are counts or prices, of which 2^l − 1 is no gain
ALIASES = {
    "ap": "MAP",
    "meanaverageprecision": "MAP",
    "rr": "MRR",
    "p": "Precision",
    "pre": "Precision",
    "r": "Recall",
}


def parse(text: str) -> Measure:
    """Parse a measure: its `repr`, its bare name for the defaults, or its `name` in results (not of every setting).

    Names are those of LightGBM, XGBoost and ir_measures, in any case: ``ndcg@10``, ``map``, ``mrr@10``, ``P@5``; those
    of measures of another label source end with it: ``ndcg@10-clicks``. They give lambdaboost's measure of that name,
    so a query without a relevant document counts 0. No code runs. Objectives are read by `lambdaboost.parse`.

    Raises
    ------
    ValueError
        Where the text names no measure, listing what is known, or gives a cutoff to a measure that has none.

    Examples
    --------
    >>> parse("NDCG(k=3)"), parse("MAP"), parse("ndcg@10")
    (NDCG(k=3), MAP(), NDCG(k=10))
    >>> parse("ndcg@10-clicks"), parse("pre-mrr@10"), parse("ndcg@3-gain.linear")
    (CNDCG(k=10), MRR(k=10), NDCG(k=3, gain='linear'))

    """
    measure = None
    if isinstance(text, str):
        if "," in text and all(map(SHORT.fullmatch, text.split(","))):
            raise ValueError(f"{quote(text)} is more than one measure: give one text for each")
        measure = _of_name(text)
    if measure is None:
        measure = read_value(text, {**MEASURES, **CURVES})
    if not isinstance(measure, Measure):
        raise ValueError(
            f"{quote(text)} is not a measure: give one of {', '.join(MEASURES)}, such as NDCG(k=3)"
        )
    return measure


def parse_all(given: Measure | str | Iterable[Measure | str]) -> tuple[Measure, ...]:
    """One measure or several, each an object or its text, without repetition.

    >>> parse_all("ndcg@10"), parse_all(["map", "mrr@5", parse("MAP")])
    ((NDCG(k=10),), (MAP(), MRR(k=5)))
    """
    if isinstance(given, Measure | str) or not isinstance(given, Iterable):  # such as the class NDCG
        given = (given,)
    found: list[Any] = list(given)
    for at, item in enumerate(found):
        if isinstance(item, str):
            found[at] = parse(item)
    if not found or not all(isinstance(measure, Measure) for measure in found):
        raise ValueError(f"measures is {given!r}: give at least one measure, such as (NDCG(1), NDCG(3))")
    return tuple(dict.fromkeys(found))


def default_measures(q: Queries) -> tuple[Measure, ...]:
    """NDCG at 10, 5, 3 and 1, and of every further source at 10 and 3: CNDCG of labels in [0, 1], else NDCG.

    `Spearman` for a source with labels below 0, and for a further one with labels above 31 or between whole numbers,
    which are no grades.

    >>> default_measures(Queries([1, 0], sizes=[2], clicks=[0.5, 0.0]))[3:]
    (NDCG(k=1), CNDCG(k=10), CNDCG(k=3))
    >>> default_measures(Queries([1, 0], sizes=[2], stars=[5, 0], price=[9.5, 0.0]))[4:]
    (NDCG(k=10, source='stars'), NDCG(k=3, source='stars'), Spearman(source='price'))
    """
    found: list[Measure] = []
    for source, labels in q.labels.items():
        known = labels[~np.isnan(labels)]
        if (known < 0).any():
            found.append(Spearman(source))
        elif source == RELEVANCE:
            found += [NDCG(k) for k in (10, 5, 3, 1)]
        elif (known <= 1).all():
            found += [CNDCG(k, source) for k in (10, 3)]
        elif (known <= HIGHEST_GRADE).all() and (known % 1 == 0).all():
            found += [NDCG(k, source=source) for k in (10, 3)]
        else:
            found.append(Spearman(source))
    return tuple(found)


def _of_name(text: str) -> Measure | None:
    """The measure of a name such as ``"ndcg@10-clicks"``; None for any other text."""
    found = SHORT.fullmatch(text.removesuffix(RENAMED))
    if found is None:
        return None
    by_lower = {**{name.lower().replace("_", ""): name for name in MEASURES}, **ALIASES}
    name = by_lower.get(found["name"].lower().replace("_", ""))
    if name is None:
        return _make(found["name"], MEASURES, text)  # an error that suggests a name

    # A part with a dot is a parameter and its value; another one is the source, and then ndcg is that of clicks.
    given: dict[str, Any] = {}
    if found["k"] is not None:
        given["k"] = int(found["k"])
    for part in found["parts"].split("-")[1:]:
        field, dot, value = part.partition(".")
        if not dot:
            given["source"] = part
            name = "CNDCG" if name == "NDCG" else name
        else:
            # A number, also nan and inf, True, False or None; anything else is text.
            given[field] = value
            for read in (float, ast.literal_eval):
                with contextlib.suppress(ValueError, SyntaxError):
                    given[field] = read(value)

    if "k" in given and "k" not in inspect.signature(MEASURES[name]).parameters:
        raise ValueError(f"{quote(text)}: {name} has no cutoff; write {name}, without @{given['k']}")
    try:
        return _make(name, MEASURES, text, **given)
    except (TypeError, ValueError) as error:
        if not found["parts"]:
            raise
        raise ValueError(
            f"{error}; {quote(text)} may be a name that has lost characters: give the measure's repr"
        ) from None


def read_value(text: str, known: Mapping[str, Callable[..., Any]]) -> Any:
    """Parse the repr of a value made of `known` names; a bare name is the value with its defaults.

    Arguments may be known values, numbers, strings, tuples, True, False, None and ``float('nan')``; lists are tuples.

    Raises
    ------
    ValueError
        If `text` holds anything else; names it.
    TypeError
        If `text` is not a string.

    Examples
    --------
    >>> read_value("complex(real=-1, imag=2.5)", {"complex": complex})
    (-1+2.5j)

    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise TypeError(f"expected text, such as 'NDCG(k=3)', got a {kind}: {quote(repr(text))}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", error)  # of a SyntaxError without the place, which is in the text
        remedy = "give the repr of a value, such as NDCG(k=10), or the .text of Propensities"
        raise ValueError(f"cannot read {quote(text)} ({reason}): {remedy}") from None

    def read(node: ast.AST) -> Any:
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(map(read, items))
            case ast.Call(
                func=ast.Name(id="float"), args=[ast.Constant(value="nan" | "inf" | "-inf" as number)]
            ):
                return float(number)
            case ast.Name(id=name) if (
                len(name) <= LONGEST_SHOWN
            ):  # longer ones are no names, and slow to compare
                return _make(name, known, text)
            case ast.Call(
                func=ast.Name() | ast.Attribute(value=ast.Name()) as factory, args=args, keywords=keywords
            ):
                if all(k.arg for k in keywords):
                    named = {str(k.arg): read(k.value) for k in keywords}
                    return _make(ast.unparse(factory), known, text, *map(read, args), **named)
        try:
            value = ast.literal_eval(node)
        except ValueError:
            value = ...
        if not isinstance(value, bool | int | float | str | None):
            raise ValueError(
                f"cannot read {quote(ast.unparse(node))} in {quote(text)}: only known values, numbers, strings, "
                "tuples, True, False, None and float('nan'), as in NDCG(k=10)"
            )
        return value

    try:
        return read(tree)
    except RecursionError:
        raise ValueError(f"cannot read {quote(text)}: nested too deeply") from None


def _make(name: str, known: Mapping[str, Callable[..., Any]], text: str, *args: Any, **named: Any) -> Any:
    """A known value of these arguments."""
    if name not in known:
        by_lower = {one.lower(): one for one in known}
        near = difflib.get_close_matches(name.lower(), by_lower, n=1)
        meant = ""
        if near:
            meant = f" (did you mean {by_lower[near[0]]}?)"
        choices = ", ".join(sorted(known))
        raise ValueError(
            f"cannot read {quote(text)}: {quote(name)} is unknown{meant}; choose among {choices}"
        )
    signature = inspect.signature(known[name])
    try:
        signature.bind(*args, **named)
    except TypeError as error:
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
        form = signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
        raise ValueError(f"cannot read {quote(text)}: {error}; the form is {name}{form}") from None
    return known[name](*args, **named)
