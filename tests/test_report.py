"""The report page: well-formed, self-contained, escaped, whole on disk, right in its figures; and its commands."""

import html
import inspect
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import file_size
import numpy as np
import pytest

from lambdaboost import CNDCG, MAP, NDCG, Queries, Spearman, graded
from lambdaboost.cli.run import run
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import read_letor, web_search_log, write_letor
from lambdaboost.datasets.digest import digest_of_queries
from lambdaboost.evaluation import Figures, System, compare, report
from lambdaboost.evaluation.reports import page as pages
from lambdaboost.evaluation.reports.tables import importance_table

pytest.importorskip("matplotlib")

LOG = web_search_log(queries=30, documents=20, features=16, seed=2)
Q = LOG.queries
RNG = np.random.default_rng(0)
VOID = {"meta", "link", "br", "path", "use", "rect"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def system(name, noise=1.0, q=Q, seed=0):
    rng = np.random.default_rng(seed)
    return System(name, q.relevance + rng.normal(size=q.n_documents) * noise, q)


BEFORE, AFTER = system("before", 2.0), system("after", 1.0, seed=1)


class Checked(HTMLParser):
    """Every element closed in its order, ids that are there once, links that lead somewhere."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.targets, self.texts, self.tags, self.images = [], [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        if tag == "link":  # an empty icon, so that no server is asked for one
            assert given == {"rel": "icon", "href": "data:,"}
            return
        for name in ("href", "xlink:href", "clip-path", "src"):
            if name in given:
                self.targets.append(given[name])
        if tag == "svg":
            self.images.append(given)
        if tag not in VOID or tag in ("path", "rect", "use"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        self.texts.append(data)


def checked(path):
    """The page's text, and its parser after every check of its form."""
    text = path.read_text(encoding="utf-8")
    page = Checked()
    page.feed(text)
    page.close()
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    for target in page.targets:
        assert target.startswith(("#", "url(#")), target
        assert target.removeprefix("url(").strip("#)") in page.ids, target
    assert not {"script", "img", "iframe", "object"} & set(page.tags)
    assert "://" not in text and "@import" not in text and "url(" not in text.partition("</style>")[0]
    assert (
        text.startswith("<!DOCTYPE html>") and '<html lang="en">' in text and '<meta charset="utf-8">' in text
    )
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert "@media print" in text and "max-width: 40rem" in text
    for image in page.images:
        assert image["role"] == "img" and len(image["aria-label"]) > 20
    return text, page


def headings(text):
    return [html.unescape(h) for h in re.findall(r"<h2[^>]*>(.*?)</h2>", text)]


def test_everything_on_one_page(tmp_path):
    third = system("third", 0.5, seed=2)
    curves = {"valid": {"NDCG(k=3)": [0.1, 0.25, 0.5]}, "train": {"ndcg(k=3)": {1: 0.1, 3: 0.75}}}
    path = report(
        tmp_path / "page.html",
        BEFORE,
        AFTER,
        third,
        histories={"after": curves, "third": {"valid": {"pre-cndcg(k=3)": [0.5]}}},
        diagnostics={"A picture of the caller": lambda axes: axes.plot([1, 2])},
        run={"Command": "train it", "after": {"objective": graded(), "params": {"learning_rate": 0.1}}},
        title="A title",
    )
    text, page = checked(path)
    assert headings(text) == [
        "Comparison",
        "Trade-off",
        "By cutoff",
        "Scores by grade",
        "Learning curves",
        "Diagnostics",
        "Gains and losses by query",
        "Worst queries",
        "What was run",
    ]
    # Cutoffs, front, three systems' scores, two measures' curves, one of the caller, gains of two by two sources.
    assert len(page.images) == 1 + 1 + 3 + 2 + 1 + 4
    told = "\n".join(page.texts)
    for expected in (
        f"{100 * BEFORE.per_query(NDCG(10)).mean():.2f}",
        f"{100 * AFTER.per_query(CNDCG(3)).mean():.2f}",
        f"{100 * (AFTER.per_query(NDCG(10)) - BEFORE.per_query(NDCG(10))).mean():+.2f}",
        repr(graded()),
        "params · learning_rate",
        "2 systems against before on 30 queries",
        digest_of_queries(Q),
        "train it",
    ):
        assert expected in told, expected
    differences = AFTER.per_query(NDCG(10)) - BEFORE.per_query(NDCG(10))
    most = int(np.abs(differences).argmax())
    assert f"<tr><td>{most}</td><td>{Q.sizes[most]}</td>" in text
    assert f"<td>{100 * differences[most]:+.2f}</td>" in text
    assert f"{(differences > 1e-12).sum()} better" in told
    assert "0.7500 after round 3" in page.images[5]["aria-label"]
    assert "numpy" in told and "lambdaboost" in told


def test_charts_are_of_the_measure_that_was_asked_for(tmp_path):
    """Labels of 1,024 overflow an exponential gain, and a linear one takes them."""
    q = Queries([1024, 1, 0, 3, 1024, 0], sizes=[3, 3])
    measure, one = NDCG(3, gain="linear"), System("one", [1, 3, 2, 3, 1, 2], q)
    text, page = checked(report(tmp_path / "page", one, measures=measure))
    assert "NDCG(gain='linear') by cutoff k" in "\n".join(page.texts)
    first = 100 * NDCG(1, gain="linear")(one.scores, q)
    assert f"one {first:.2f} at 1, {100 * measure(one.scores, q):.2f} at 3" in page.images[0]["aria-label"]
    text, page = checked(report(tmp_path / "page", System("s", [1, 2, 3, 1, 2, 3], q), measures=Spearman()))
    assert "By cutoff" not in headings(text)


def test_a_lone_system_and_chosen_measures(tmp_path):
    q = Queries([1, 0, 1, 0, 0, 0], ids=["a", "a", "b", "b", "c", "c"])
    text, page = checked(report(tmp_path / "page", System("alone", [2, 1, 1, 2, 1, 2], q), measures=MAP()))
    assert headings(text) == [
        "Measures",
        "By cutoff",
        "Scores by grade",
        "Worst queries",
        "What was run",
    ]
    # (1 + 1/2 + 0) / 3
    assert "<td>50.00</td>" in text and "MAP()" in page.texts and len(page.images) == 2
    assert "MAP() by cutoff k" in "\n".join(page.texts)
    both = report(tmp_path / "page", System("x", [2, 1, 1, 2, 1, 2], q), System("y", [2, 1, 2, 1, 1, 2], q))
    assert "<tr><td>b</td><td>2</td>" in checked(both)[0] and "named by id" in both.read_text(
        encoding="utf-8"
    )


def test_labels_are_escaped_everywhere(tmp_path):
    evil = '<script>alert("1")</script> & $x_1$ \\frac $ "quoted" \'so\' \x07 中文'
    path = report(
        tmp_path / "page.html",
        system(evil),
        system("_hidden " + evil, seed=1),
        histories={evil: {evil: {evil: [0.5, 0.6]}}},
        diagnostics={evil: lambda axes: axes.plot([1, 2], label="_" + "x" * 200)},
        run={evil: {evil: evil}, "loose " + evil: evil},
        title=evil,
    )
    text, page = checked(path)
    assert "<script" not in text and "alert(" in text
    assert page.texts.count(repr(evil)[1:-1]) >= 3  # without the control character
    # In a picture the name of a system stands as it is: no formula, and not left out for its underscore.
    assert any(
        "_hidden" in t and "$x_1$" in t for t in re.findall(r"<text[^>]*>(.*?)</text>", text, re.DOTALL)
    )


def test_the_same_bytes_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    pages = [report(tmp_path / name, BEFORE, AFTER).read_bytes() for name in ("a", "b")]
    assert pages[0] == pages[1]


def test_many_queries_make_no_large_page(tmp_path):
    rng = np.random.default_rng(0)
    q = Queries(rng.integers(0, 3, 20_000), sizes=[5] * 4000)
    path = report(tmp_path / "page", system("a", q=q), system("b", q=q, seed=1), measures=NDCG(3))
    assert path.stat().st_size < 70_000
    checked(path)


def test_without_matplotlib_the_tables_stand(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "has_matplotlib", lambda: False)
    text, page = checked(report(tmp_path / "page", BEFORE, AFTER))
    assert page.images == [] and "they need matplotlib" in text and "<td>" in text


def test_a_failure_leaves_the_old_page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        report(path, BEFORE, AFTER, diagnostics={"bad": lambda axes: 1 / 0})
    assert path.read_text(encoding="utf-8") == "old" and os.listdir(tmp_path) == ["page.html"]
    with file_size.limited(4096), pytest.raises(OSError):
        report(path, BEFORE, AFTER)
    assert path.read_text(encoding="utf-8") == "old" and os.listdir(tmp_path) == ["page.html"]


SHORT = Queries([1, 0], sizes=[2])


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda p: report(p / "no" / "page", BEFORE), "folder .* does not exist"),
        (lambda p: report(p, BEFORE), "is a folder"),
        (lambda p: report(p / "x", Figures("f", {NDCG(): [1.0]})), "cannot report on a Figures: give System"),
        (lambda p: report(p / "x", BEFORE, system("short", q=SHORT)), "rank different queries"),
        (lambda p: report(p / "x", BEFORE, BEFORE), "give each a different name"),
        (lambda p: report(p / "x", BEFORE, measures=()), r"measures is \(\): give at least one measure"),
        (lambda p: report(p / "x", BEFORE, measures=[NDCG]), "measures is .*give at least one measure"),
        (lambda p: report(p / "x", BEFORE, measures=CNDCG(source="fresh")), "no label source 'fresh'"),
        (lambda p: report(p / "x", BEFORE, importance={"x": {"a": 1}}), r"is of no system: choose among 'before'"),
        (lambda p: report(p / "x", BEFORE, importance={"before": [1]}), r"importance\['before'\] is \[1\]: give"),
        (lambda p: report(p / "x", BEFORE, importance={"before": {"a": -1}}), "negative or not finite"),
        (lambda p: report(p / "x", BEFORE, segments={"s": [1]}), r"segments\['s'\] has shape \(1,\)"),
        (lambda p: report(p / "x", BEFORE, documents=["a"]), r"documents has shape \(1,\)"),
        (lambda p: report(p / "x", BEFORE, histories={"a": [0.5]}), r"histories\['a'\] is \[0.5\]: give the engine's"),
        (lambda p: report(p / "x", BEFORE, histories={"a": {"v": {"m": 0.5}}}), r"histories\['a'\] is"),
        (lambda p: report(p / "x", BEFORE, histories={"a": {"v": {"m": ["x"]}}}), r"histories\['a'\] is"),
        (lambda p: report(p / "x", BEFORE, histories={"a": {"v": {"m": [[1, 2]]}}}), r"histories\['a'\] is"),
    ],
)  # fmt: skip
def test_invalid_arguments_are_refused_before_anything_is_written(tmp_path, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        wrong(tmp_path)
    assert os.listdir(tmp_path) == []


def test_importance_segments_and_the_worst_queries(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    q = Queries([2, 0, 1, 0, 0, 3, 0, 1], ids=list("aabbccdd"))
    good, bad = System("good", [2, 1, 2, 1, 1, 2, 2, 1], q), System("bad", [2, 1, 2, 1, 2, 1, 2, 1], q)
    path = report(
        tmp_path / "page",
        good,
        bad,
        measures=NDCG(),
        importance={"good": {"bm25": 3.0, "age": 1.0}, "bad": {"bm25": 1.0, "age": 1.0, "new": 2.0}},
        segments={"market": ["shop", "shop", "news", "news"]},
        documents=[f"doc{i}" for i in range(8)],
    )
    text, page = checked(path)
    # In percent of each system's gain, the largest first: 3/4 and 1/4; 1/4, 1/4 and 2/4.
    rows = re.findall(r"<tr><td>(bm25|age|new)</td><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", text)
    assert rows == [
        ("bm25", "75.0", "25.0", "-50.0"),
        ("new", "0.0", "50.0", "+50.0"),
        ("age", "25.0", "25.0", "+0.0"),
    ]
    swapped = 100 / np.log2(3)  # the one relevant document at rank 2
    news = (swapped + swapped) / 2
    assert f"<td>market: news</td><td>2</td><td>{(100 + swapped) / 2:.2f}</td><td>{news:.2f}</td>" in text
    assert "<td>market: shop</td><td>2</td><td>100.00</td><td>100.00</td><td>+0.00</td>" in text
    # The worst of bad: c and d, whose relevant documents stand second; good has c's first.
    assert f"Query c, 2 documents: NDCG() × 100 is {swapped:.2f}" in " ".join(page.texts)
    assert "<tr><td>doc5</td><td>2</td><td>1</td><td>3</td><td>1</td></tr>" in text
    assert "1970-01-01 00:00 UTC" in text


def test_weights_count_in_every_part(tmp_path):
    """Segments and worst queries over the queries, and with the weights, of the comparison."""
    q = Queries([1, 0, 1, 0, 1, 0, 1, 0], ids=list("aabbccdd"), weight=[9.0, 3.0, 0.0, 1.0])
    one, two = System("one", [1, 2, 2, 1, 1, 2, 2, 1], q), System("two", [2, 1, 1, 2, 1, 2, 1, 2], q)
    segments = {"all": ["x"] * 4, "market": ["shop", "shop", "none", "news"]}
    text, page = checked(report(tmp_path / "page", one, two, measures=NDCG(), segments=segments))
    at_2 = 1 / np.log2(3)
    means = (9 * at_2 + 3 + 1) / 13, (9 + 3 * at_2 + at_2) / 13
    whole = [f"{100 * mean:.2f}" for mean in means]
    assert f"<tr><td>one</td><td>{whole[0]}</td></tr>" in text and f"<td>{whole[1]}</td>" in text
    difference = f"{100 * (means[1] - means[0]):+.2f}"
    assert (
        f"<tr><td>all: x</td><td>3</td><td>{whole[0]}</td><td>{whole[1]}</td><td>{difference}</td></tr>"
        in text
    )
    shop = f"<td>{100 * (9 * at_2 + 3) / 12:.2f}</td>"
    assert f"<tr><td>market: shop</td><td>2</td>{shop}" in text and "market: none" not in text
    assert "Weighted mean NDCG() by market" in text
    worst = re.findall("Query ([a-d]), 2 documents", text)
    assert "c" not in worst and {"a", "b", "d"} <= set(worst)
    assert "0 to 9; 1 of weight 0, not counted" in page.texts


HOSTILE = {
    "escapes": "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e<script>",
    "long": "x" * 1_000_000,
    "braces": "{0} {name} %s {",
    "blanks": " \t\u00a0\n ",
}
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_in_every_field(tmp_path, kind):
    """Each text that a user gives, in all arguments of `report`, is safe and short on the page and in tables."""
    evil = HOSTILE[kind]
    labels = {f"clicks{evil}": [0.5, 0.0, 0.0, 1.0]}
    q = Queries([1, 0, 2, 0], ids=[f"q{evil}", f"q{evil}", "r", "r"], **labels)
    systems = [
        System(f"{name}{evil}", scores, q) for name, scores in (("a", [1, 2, 3, 4]), ("b", [2, 1, 4, 3]))
    ]
    names = [system.name for system in systems]
    given = {
        "measures": (NDCG(), CNDCG(source=f"clicks{evil}")),
        "histories": {evil: {evil: {f"m{evil}": [0.5, 0.6]}}},
        "diagnostics": {f"a picture of {evil}": lambda axes: axes.plot([1, 2])},
        "importance": {names[0]: {f"f{evil}": 1.0}, names[1]: {evil: 2.0}},
        "segments": {evil: [evil, "s"]},
        "documents": [f"d{evil}{i}" for i in range(4)],
        "run": {evil: {evil: evil, "more": {evil: [evil]}}, f"loose {evil}": evil},
        "title": evil,
    }
    parameters = set(inspect.signature(report).parameters) - {"path", "baseline", "others"}
    assert set(given) == parameters  # a new argument is walked too
    text, _ = checked(report(tmp_path / "page.html", *systems, **given))
    assert not CONTROLS.search(text) and "<script" not in text and len(text) < 300_000
    comparison = compare(*systems, measures=NDCG())
    assert not CONTROLS.search(repr(comparison)) and len(repr(comparison)) < 500
    for shown in (comparison, comparison.details(50)):
        for way in (str, lambda c: (c.table() if hasattr(c, "table") else c).html()):
            assert not CONTROLS.search(way(shown)) and len(way(shown)) < 20_000
    for wrong in ({"importance": {evil: {}}}, {"segments": {evil: [1]}}, {"histories": {evil: 3}}):
        with pytest.raises((TypeError, ValueError)) as error:
            report(tmp_path / "none", *systems, **wrong)
        assert len(str(error.value)) < 600 and not CONTROLS.search(str(error.value))


def test_the_page_follows_a_dark_theme(tmp_path):
    text, _ = checked(report(tmp_path / "page", BEFORE, AFTER))
    css, _, body = text.partition("</style>")
    assert "color-scheme: light dark" in css and "@media screen and (prefers-color-scheme: dark)" in css
    # Axes, ticks and letters take the colour of the text; white is nowhere painted.
    assert "currentColor" in body and not re.search("#000000|#ffffff", body, re.IGNORECASE)


def test_the_page_may_load_nothing_and_repeats_headers_in_print(tmp_path):
    text, page = checked(report(tmp_path / "page", BEFORE, AFTER))
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"" in text
    tables = text.count("<table>")
    assert tables == page.tags.count("thead") == page.tags.count("tbody") > 3
    assert text.count('<th scope="col">System</th>') == 2


def test_no_difference_is_plus_zero():
    shares = {"a": {"x": 0.50001, "y": 0.49999}, "b": {"x": 0.5, "y": 0.5}}
    assert [row[-1] for row in importance_table(shares).rows] == ["+0.0", "+0.0"]


def test_sources_beyond_click_rates_have_no_default_measure(tmp_path):
    q = Queries(Q.relevance, sizes=Q.sizes, clicks=Q.labels["clicks"], views=np.full(Q.n_documents, 7.0))
    text, _ = checked(report(tmp_path / "page", system("a", q=q), system("b", q=q, seed=1)))
    assert "CNDCG(k=10)" in text and "source=&#x27;views&#x27;" not in text and "Label source views" in text


# The commands


def call(capsys, *args):
    capsys.readouterr()
    code = run([str(a) for a in args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """test.txt, whose column 17 holds clicks, models of both engines, and scores."""
    folder = tmp_path_factory.mktemp("report")
    for name, queries in (("train", range(15)), ("test", range(15, 30))):
        part = LOG.take(list(queries))
        clicks = np.round(part.queries.labels["clicks"] * 200)
        features = np.column_stack([part.features, clicks]).astype(np.float32)
        write_letor(folder / f"{name}.txt", type(part)(features, part.queries))
    small = {"lightgbm": ("--param", "min_data_in_leaf=5"), "xgboost": ("--param", "min_child_weight=0")}
    for engine, objective in (("lightgbm", "LambdaRank()"), ("xgboost", "graded")):
        options = ("--objective", objective, "--source", "clicks=17:rate", "--rounds", "5", *small[engine])
        files = (folder / "train.txt", "--valid", folder / "test.txt", "--out", folder / f"{engine}.model")
        assert run([str(a) for a in ("train", *files, "--engine", engine, *options)]) == 0
    np.savetxt(folder / "own.txt", read_letor(folder / "test.txt").features[:, 0])
    return folder


def test_report_command(capsys, folder, tmp_path):
    out = tmp_path / "page.html"
    models = ("--model", f"plain={folder / 'lightgbm.model'}", "--model", folder / "xgboost.model")
    code, told, err = call(
        capsys, "report", folder / "test.txt", *models, "--scores", folder / "own.txt", "--out", out
    )
    assert (code, told, err) == (0, f"{out}\n", "")
    text, page = checked(out)
    assert headings(text)[1:] == [
        "Trade-off",
        "By cutoff",
        "Scores by grade",
        "Learning curves",
        "Feature importance",
        "Gains and losses by query",
        "Worst queries",
        "What was run",
    ]
    shown = "\n".join(page.texts)
    about = json.loads((folder / "xgboost.model.json").read_text(encoding="utf-8"))
    for expected in (
        "2 systems against plain on 15 queries",
        about["objective"],
        about["model_sha256"],
        about["data"]["train"]["sha256"],
        "CNDCG(k=10)",
    ):
        assert expected in shown, expected
    assert about["history"]["valid"]["NDCG(k=10)"][-1] == pytest.approx(
        about["measures"]["valid"]["NDCG(k=10)"], abs=0.1
    )
    code, _, _ = call(
        capsys,
        "report",
        folder / "test.txt",
        *models,
        "--baseline",
        "xgboost",
        "--out",
        out,
        "--overwrite",
        "--measure",
        "MAP",
    )
    assert code == 0 and "plain against xgboost" in checked(out)[0]


def test_report_command_draws_propensities(capsys, folder, tmp_path):
    out, curve = tmp_path / "page.html", tmp_path / "harvested.json"
    Propensities([1.0, 0.5], [1.0, 0.4], [1.0, 0.6]).save(curve)
    command = ("report", folder / "test.txt", "--scores", folder / "own.txt", "--out", out, "--overwrite")
    code, _, err = call(capsys, *command, "--propensities", curve, "--propensities", f"again={curve}")
    assert (code, err) == (0, "")
    _, page = checked(out)
    shown = "\n".join(page.texts)
    for expected in ("Propensities by position", "harvested", "again"):
        assert expected in shown, expected
    code, _, err = call(capsys, *command, "--propensities", curve, "--propensities", curve)
    assert code != 0 and "--propensities has two curves 'harvested'" in err
    code, _, err = call(capsys, *command, "--propensities", tmp_path / "none.json")
    assert code != 0 and "none.json: No such file or directory; check the path" in err
    code, _, err = call(capsys, *command, "--propensities", folder / "own.txt")
    assert code != 0 and "is not a saved curve of propensities" in err


def test_report_of_models_agrees_with_evaluate(capsys, folder, tmp_path):
    model, test, out = folder / "lightgbm.model", folder / "test.txt", tmp_path / "page"
    assert call(capsys, "report", test, "--model", model, "--measure", "NDCG(k=3)", "--out", out)[0] == 0
    figures = json.loads(
        call(capsys, "evaluate", test, "--model", model, "--measure", "NDCG(k=3)", "--json")[1]
    )
    assert f"<td>{100 * figures['measures']['NDCG(k=3)']:.2f}</td>" in out.read_text(encoding="utf-8")


def test_mistakes_of_the_command(capsys, folder, tmp_path):
    test, model, out = folder / "test.txt", folder / "lightgbm.model", tmp_path / "page"

    def refused(*args):
        code, told, err = call(capsys, "report", test, *args)
        assert (code, told) == (2 if "See lambdaboost" in err else 1, "") and err.count("\n") == 1
        assert not out.exists()
        return err

    end = ("--out", out)
    assert "no systems: give --model MODEL" in refused(*end)
    assert "the name 'lightgbm' is taken" in refused("--model", model, "--model", model, *end)
    assert "--baseline 'x' is no system: choose among 'lightgbm'" in refused(
        "--model", model, "--baseline", "x", *end
    )
    assert "expected PATH or NAME=PATH" in refused("--model", "name=", *end)
    assert "--out" in refused("--model", model, "--out", tmp_path / "no" / "page")
    assert "'fresh'" in refused("--model", model, "--measure", "CNDCG(source='fresh')", *end)
    (tmp_path / "short").write_text("1\n")
    assert "has 1 lines" in refused("--scores", tmp_path / "short", *end)
    assert "check the path" in refused("--model", tmp_path / "none", *end)


def test_demo_ends_in_a_page_here(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, told, err = call(capsys, "demo", "--queries", 24, "--rounds", 3)
    assert code == 0, err
    assert told.rstrip().endswith("lambdaboost-report.html") and os.listdir() == ["lambdaboost-report.html"]
    text, _ = checked(tmp_path / "lambdaboost-report.html")
    assert "lambdaboost demo, lightgbm" in text and "Learning curves" in headings(text)
    assert "--engine lightgbm --queries 24 --rounds 3 --seed 0" in text
    assert "--report" in call(capsys, "demo", "--report", tmp_path / "no" / "page")[2]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
@pytest.mark.parametrize("width", [1200, 500])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_a_browser_shows_it(tmp_path, width, scheme):
    path = report(tmp_path / "page.html", BEFORE, AFTER)
    (tmp_path / "profile").mkdir()
    shot = tmp_path / "page.png"
    subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            f"--blink-settings=preferredColorScheme={('dark', 'light').index(scheme)}",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},2000",
            f"--screenshot={shot}",
            path.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    from matplotlib.image import imread

    pixels = imread(shot)[..., :3]
    assert pixels.shape[:2] == (2000, width)
    # Dark text on white or the reverse, and every colour of the pictures' first two curves.
    page, blue = (0.15, "2F92DD") if scheme == "dark" else (1.0, "0072B2")
    assert np.abs(pixels[0, 0] - page).max() < 0.1 and pixels.min() < 0.15 and pixels.max() > 0.85
    for colour in (blue, "D55E00"):
        rgb = np.array([int(colour[i : i + 2], 16) for i in (0, 2, 4)]) / 255
        assert (np.abs(pixels - rgb).max(axis=2) < 0.02).sum() > 50
