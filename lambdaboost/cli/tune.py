"""``lambdaboost tune``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lambdaboost._files import replacing
from lambdaboost._installed import engine_named, installed
from lambdaboost.cli.columns import naming_option
from lambdaboost.cli.console import ERR, StoppedButWrote, note
from lambdaboost.cli.files import check_suffix, engine_of_suffix
from lambdaboost.cli.measuring import check_columns, check_evaluated, parse_measures
from lambdaboost.cli.train import data_facts, parse_params, read_parts
from lambdaboost.datasets import Columns
from lambdaboost.evaluation import NDCG
from lambdaboost.saving import sidecar_path
from lambdaboost.tuning import Stopped, Tuned
from lambdaboost.tuning import tune as search_for
from lambdaboost.tuning.candidates import given_candidates
from lambdaboost.tuning.request import read_engines


def run(
    train: Path,
    valid: Path | None,
    out: Path,
    measure: tuple[str, ...],
    objective: tuple[str, ...],
    param: tuple[str, ...],
    columns: Columns,
    early_stopping: int,
    as_json: bool,
    **search: Any,
) -> None:
    """Search, and write the model, its description and its script; at Ctrl-C those of the best so far.

    `search` are further arguments of `lambdaboost.tune`.
    """
    measures = parse_measures(measure) or (NDCG(10),)
    named = engine_of_suffix(out)
    search["engine"] = search["engine"] or (named if named in installed() else None)
    engines = read_engines(search["engine"])
    for engine in engines:
        check_suffix("--out", out, engine)
    params = parse_params(param, engine_named(engines[0]))
    check_columns(measures, columns)
    for text in objective:
        with naming_option(f"--objective {text!r}"):
            candidate, *_ = given_candidates(text, engines)
        check_columns((), columns, candidate.objective)
    paths = {"train": train} | ({} if valid is None else {"valid": valid})
    with ERR.status("reading …"):
        parts, columns = read_parts(paths, columns)
        for name, option in (("train", "TRAIN"), ("valid", "--valid")):
            if name in parts:
                check_evaluated(option, parts[name].queries, paths[name], parts[name].rows, measures)

    def write(tuned: Tuned) -> None:
        data = {name: data_facts(path, parts[name]) for name, path in paths.items()}
        further = {**columns.record(), "data": data, "seed": search["seed"]}
        tuned.save(out, about=further)
        with replacing(script_of(out)) as file:
            file.write(tuned.script(reading_of(paths, columns), f"again-{out.name}").encode())
        if as_json:
            print(sidecar_path(out).read_text(encoding="utf-8"), end="")
        else:
            print(tuned.verdict)
        note(f"{out} is {tuned.objective!r}, {tuned.rounds} rounds; {script_of(out)} trains it again")

    try:
        tuned = search_for(
            parts["train"],
            valid=parts.get("valid"),
            measure=measures,
            objectives=objective or None,
            params=params,
            early_stopping_rounds=early_stopping,
            **search,
        )
    except Stopped as stopped:
        note(f"lambdaboost: {stopped}; {out} becomes the best so far")
        write(stopped.finish())
        raise StoppedButWrote from None
    write(tuned)


def script_of(out: Path) -> Path:
    """``model.txt.py`` for ``model.txt``."""
    return out.with_name(f"{out.name}.py")


def reading_of(paths: dict[str, Path], columns: Columns) -> str:
    """Python that reads the files as the command read them."""
    lines = [f"{name} = columns.read({str(path)!r})\n" for name, path in paths.items()]
    both = "Collection.concat([train.without_ids(), valid.without_ids()])"
    return (
        "from lambdaboost.datasets import Collection, Columns\n\n"
        f"columns = {columns!r}\n{''.join(lines)}data = {both if 'valid' in paths else 'train'}\n"
    )
