"""The report page: well-formed, self-contained, escaped, whole on disk, right in its figures; and its commands."""

import base64
import html
import inspect
import json
import os
import re
from html.parser import HTMLParser

import file_size
import numpy as np
import pandas as pd
import pytest
from command import SMALL, done, refused, write_parts

from lambdaboost import CNDCG, MAP, NDCG, Queries, Spearman, graded
from lambdaboost.cli.run import run
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import read_letor, web_search_log
from lambdaboost.evaluation import ClickDCG, charts, compare, report
from lambdaboost.explanation import Explanation

pytest.importorskip("matplotlib")

LOG = web_search_log(queries=30, documents=20, features=16, seed=2)
Q = LOG.queries
WHY = ["feature", "above", "below", "contribution"]
VOID = {"meta", "link", "br", "img"}


def drawn(noise, seed=0):
    return Q.relevance + np.random.default_rng(seed).normal(size=Q.n_documents) * noise


BEFORE, AFTER = drawn(2.0), drawn(1.0, seed=1)
BOTH = {"before": BEFORE, "after": AFTER}


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
        self.targets += [given["href"]] if "href" in given else []
        self.images += [given] if tag == "img" else []
        self.open += [tag] if tag not in VOID else []

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
        assert target.startswith("#") and target[1:] in page.ids, target
    assert not {"script", "iframe", "object"} & set(page.tags)
    head = text.partition("</style>")[0]
    assert "://" not in text and "@import" not in text and "url(" not in head
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"" in head
    for image in page.images:
        assert len(image["alt"]) > 10 and "<svg" in drawn_in(image)
    return text, page


def drawn_in(image):
    """The SVG of an image, which is in the page itself."""
    return base64.b64decode(image["src"].removeprefix("data:image/svg+xml;base64,")).decode()


def headings(text):
    return [html.unescape(h) for h in re.findall(r"<h2[^>]*>(.*?)</h2>", text)]


def row(*cells):
    """A row of a table, for `re.search`."""
    return r"<tr>\s*" + r"\s*".join(f"<td>{re.escape(cell)}</td>" for cell in cells)


def test_everything_on_one_page(tmp_path):
    scores = BOTH | {"third": drawn(0.5, seed=2)}
    curves = {"valid": {"ndcg@3": [0.1, 0.25, 0.5]}, "train": {"ndcg@3": [0.1, 0.75]}}
    path = report(
        tmp_path / "page.html",
        scores,
        Q,
        histories={"after": curves, "third": {"valid": {"pre-err": [0.5]}}},
        run={"Command": "train it", "after": {"objective": graded(), "params": {"learning_rate": 0.1}}},
        title="A title",
    )
    text, page = checked(path)
    assert headings(text) == [
        *("Measures", "Trade-off", "Learning curves", "Gains and losses by query", "What was run"),
    ]
    # Means, differences, the front, curves of two measures, gains of two by two sources.
    assert len(page.images) == 2 + 1 + 2 + 4
    told = "\n".join(page.texts)
    clicks_before, clicks_after = (CNDCG(10).per_query(scores, Q) for scores in (BEFORE, AFTER))
    before, after = (NDCG(10).per_query(scores, Q) for scores in (BEFORE, AFTER))
    found = compare(scores, Q, (NDCG(10), NDCG(5), NDCG(3), NDCG(1), CNDCG(10), CNDCG(3)))
    for expected in (
        f"{100 * before.mean():.2f}",
        f"{100 * (after - before).mean():+.2f}",
        *found.differences_table.to_numpy().ravel(),
        found.caption,
        repr(graded()),
        "after · params · learning_rate",
        "3 systems on 30 queries",
        "train it",
        f"ndcg@10 of each query, after less before, sorted: {(after - before > 1e-12).sum()} better",
        f"ndcg@10-clicks of each query, after less before, sorted: {(clicks_after > clicks_before).sum()} better",
    ):
        assert expected in told, expected
    most = int(np.abs(after - before).argmax())
    figures = (f"{100 * x:.2f}" for x in (before[most], after[most]))
    difference = f"{100 * (after - before)[most]:+.2f}"
    assert re.search(row(str(most), str(Q.sizes[most]), *figures, difference), text)
    assert ">third, valid</text>" in drawn_in(page.images[4])
    assert ">Difference in ndcg@10 × 100</text>" in drawn_in(page.images[5])  # the unit of the tables
    # The third system is best in grades and, of the same noise, in clicks.
    assert "as no other is better in both: 'third'." in told


def test_queries_without_a_label_count_as_the_measure_says(tmp_path):
    q = Queries([1, 0, 0, 0, 2, 1], sizes=[2, 2, 2])
    scores = {"a": [1, 2, 1, 2, 1, 2], "b": [2, 1, 1, 2, 2, 1]}
    measures = NDCG(), MAP(empty=float("nan")), Spearman()
    text = report(tmp_path / "page", scores, q, measures).read_text("utf-8")
    for name, measure in (("ndcg", "NDCG()"), ("spearman", "Spearman()")):
        assert re.search(row(name, f"{measure}, undefined on 1 query, counted as 0"), text)
    assert "undefined on 1 query, left out" in text and "count as 0" not in text
    page = report(tmp_path / "page", {"a": [1, 2, 2, 1]}, Queries([1, 0, 2, 1], sizes=[2, 2]), Spearman())
    assert "undefined" not in page.read_text("utf-8")


def test_long_measures_have_short_names_and_the_whole_ones_among_the_facts(tmp_path):
    q = Q.with_positions(np.ones(Q.n_documents))
    measures = [ClickDCG(10, Propensities.power(1.0, 3), clip=clip, estimator="snips") for clip in (5, 20)]
    text, page = checked(report(tmp_path / "page.html", BOTH, q, [NDCG(3), *measures]))
    head = text[text.index("<thead>") : text.index("</thead>")]
    assert re.findall("<th>(.*?)</th>", head) == [
        *("System", "ndcg@3", "ClickDCG (2)", "ClickDCG (3)"),
    ]
    assert "ClickDCG (3)" in page.texts and repr(measures[1]) in page.texts


def test_ties_of_sorted_rows_are_on_the_page(tmp_path):
    rows = np.lexsort((-Q.relevance, Q.query_of_row))
    with pytest.warns(UserWarning, match="'flat': scores tie in 30 of 30 queries"):
        path = report(tmp_path / "page.html", {"flat": np.zeros(Q.n_documents)}, Q.reordered(rows), NDCG(3))
    assert any(
        "rows stand in the order of relevance: NDCG(k=3) is 1.0000" in one for one in checked(path)[1].texts
    )


def test_a_lone_system_and_queries_with_ids(tmp_path):
    q = Queries([1, 0, 1, 0, 0, 0], ids=["a", "a", "b", "b", "c", "c"])
    text, page = checked(report(tmp_path / "page", {"alone": [2, 1, 1, 2, 1, 2]}, q, MAP()))
    assert headings(text) == ["Measures", "What was run"]
    # (1 + 1/2 + 0) / 3
    assert "<td>50.00</td>" in text and "map" in page.texts and len(page.images) == 1
    both = report(tmp_path / "page", {"x": [2, 1, 1, 2, 1, 2], "y": [2, 1, 2, 1, 1, 2]}, q)
    assert re.search(row("b", "2"), checked(both)[0]) and "named by id" in both.read_text("utf-8")


def test_the_same_bytes_again_and_weights(tmp_path):
    q = Queries([1, 0, 1, 0, 1, 0, 1, 0], ids=list("aabbccdd"), weight=[9.0, 3.0, 0.0, 1.0])
    scores = {"one": [1, 2, 2, 1, 1, 2, 2, 1], "two": [2, 1, 1, 2, 1, 2, 1, 2]}
    pages = [report(tmp_path / name, scores, q, NDCG()) for name in ("a", "b")]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    text, page = checked(pages[0])
    assert re.search(row("one", f"{100 * (9 / np.log2(3) + 3 + 1) / 13:.2f}"), text)
    assert "0 to 9; 1 of weight 0, not counted" in page.texts


def test_without_matplotlib_the_tables_stand(tmp_path, monkeypatch):
    monkeypatch.setattr(charts, "has_matplotlib", lambda: False)
    text, page = checked(report(tmp_path / "page", BOTH, Q))
    assert page.images == [] and "they need matplotlib" in text and "<td>" in text


def test_a_failure_leaves_the_old_page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with file_size.limited(4096), pytest.raises(OSError):
        report(path, BOTH, Q)
    assert path.read_text(encoding="utf-8") == "old" and os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda p: report(p / "no" / "page", BOTH, Q), "folder .* does not exist"),
        (lambda p: report(p / "x", [BEFORE], Q), "scores is of type list, expected a dict"),
        (lambda p: report(p / "x", BOTH, Q, CNDCG(source="fresh")), "no label source 'fresh'"),
        (lambda p: report(p / "x", BOTH, Q, run=["a"]), "run is of type list, expected a dict"),
        (lambda p: report(p / "x", BOTH, Q, explanations={"a": 3}), r"explanations\['a'\] is 3: give what explain"),
        (lambda p: report(p / "x", BOTH, Q, histories={"a": [0.5]}), r"histories\['a'\] is \[0.5\]: give the"),
        (lambda p: report(p / "x", BOTH, Q, histories={"a": {"v": {"m": 0.5}}}), r"histories\['a'\] is"),
    ],
)  # fmt: skip
def test_invalid_arguments_are_refused_before_anything_is_written(tmp_path, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        wrong(tmp_path)
    assert os.listdir(tmp_path) == []


HOSTILE = {
    "escapes": "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e<script>",
    "markup": '<script>alert("1")</script> & $x_1$ \\frac $ "quoted" \'so\' 中文',
    "long": "x" * 1_000_000,
    "braces": "{0} {name} %s ${title} $",
    "blanks": " \t\u00a0\n ",
}
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_in_every_field(tmp_path, kind):
    """Each text that a user gives, in all arguments of `report`, is safe and short on the page and in tables."""
    evil = HOSTILE[kind]
    q = Queries(
        [1, 0, 2, 0], ids=[f"q{evil}", f"q{evil}", "r", "r"], **{f"clicks{evil}": [0.5, 0.0, 0.0, 1.0]}
    )
    scores = {f"_a{evil}": [1, 2, 3, 4], f"b{evil}": [2, 1, 4, 3]}
    given = {
        "measures": (NDCG(), CNDCG(source=f"clicks{evil}")),
        "explanations": {evil: Explanation(pd.DataFrame([[evil, evil, evil, 1.0]], columns=WHY), 0, 1)},
        "histories": {evil: {evil: {f"m{evil}": [0.5, 0.6]}}},
        "run": {evil: {evil: evil, "more": {evil: [evil]}}, f"loose {evil}": evil},
        "title": evil,
    }
    parameters = set(inspect.signature(report).parameters) - {"path", "scores", "queries"}
    assert set(given) == parameters  # a new argument is walked too
    text, page = checked(report(tmp_path / "page.html", scores, q, **given))
    assert not CONTROLS.search(text) and "<script" not in text and len(text) < 300_000
    if kind == "markup":  # the name of a system is no formula, and not left out for its underscore
        drawn = re.findall(r"<text[^>]*>(.*?)</text>", drawn_in(page.images[0]), re.DOTALL)
        assert page.texts.count(evil) >= 3 and any("_a" in t and "$x_1$" in t for t in drawn)
    comparison = compare(scores, q, measures=NDCG())
    for way in (repr, str, type(comparison)._repr_html_):
        assert not CONTROLS.search(way(comparison)) and len(way(comparison)) < 20_000
        assert "<script" not in type(comparison)._repr_html_(comparison)
    with pytest.raises(TypeError) as error:
        report(tmp_path / "none", scores, q, histories={evil: 3})
    assert len(str(error.value)) < 600 and not CONTROLS.search(str(error.value))


# The commands


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """test.txt, models of both engines, and scores."""
    folder = write_parts(tmp_path_factory.mktemp("report"), LOG, train=range(15), test=range(15, 30))
    for engine, objective in (("lightgbm", "LambdaRank()"), ("xgboost", "graded")):
        options = ("--objective", objective, "--source", "clicks=17:rate", "--rounds", "5", *SMALL[engine])
        files = (folder / "train.txt", "--valid", folder / "test.txt", "--out", folder / f"{engine}.model")
        assert run([str(a) for a in ("train", *files, "--engine", engine, *options)]) == 0
    np.savetxt(folder / "own.txt", read_letor(folder / "test.txt").features[:, 0])
    return folder


def test_report_command(capsys, folder, tmp_path):
    out = tmp_path / "page.html"
    models = ("--model", f"plain={folder / 'lightgbm.model'}", "--model", folder / "xgboost.model")
    given = ("report", folder / "test.txt", *models, "--scores", folder / "own.txt", "--out", out)
    assert done(capsys, *given) == (f"{out}\n", "")
    text, page = checked(out)
    assert headings(text) == [
        *("Measures", "Trade-off", "Learning curves", "Gains and losses by query"),
        *("Why one document stands above another", "What was run"),
    ]
    shown = "\n".join(page.texts)
    about = json.loads((folder / "xgboost.model.json").read_text(encoding="utf-8"))
    for expected in (
        "3 systems on 15 queries",
        about["objective"],
        about["model_sha256"],
        about["data"]["train"]["file"],
        "CNDCG(k=10)",
    ):
        assert expected in shown, expected
    evaluated, _ = done(
        capsys, "evaluate", folder / "test.txt", "--model", folder / "lightgbm.model", "--json"
    )
    assert f"<td>{100 * json.loads(evaluated)['measures']['NDCG(k=10)']:.2f}</td>" in text


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_a_file_whose_name_is_no_utf8(capsys, folder, tmp_path):
    path = tmp_path / os.fsdecode(b"test\xff.txt")
    path.write_bytes((folder / "test.txt").read_bytes())
    given = ("--scores", folder / "own.txt", "--source", "clicks=17:rate", "--out", tmp_path / "r")
    done(capsys, "report", path, *given)


MISTAKES = {
    "no systems: give --model MODEL": "",
    "two systems are called 'lightgbm'": "--model MODEL --model MODEL",
    "expected PATH or NAME=PATH": "--model name=",
}


@pytest.mark.parametrize("said", MISTAKES)
def test_mistakes_of_the_command(capsys, folder, tmp_path, said):
    words = [word.replace("MODEL", str(folder / "lightgbm.model")) for word in MISTAKES[said].split()]
    given = ("report", folder / "test.txt", "--out", tmp_path / "page", *words)
    assert said in refused(capsys, *given)
    assert os.listdir(tmp_path) == []
