"""The benchmark of tune on unseen data: features know nothing of what is ranked, and how rows are put together."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("optuna")
pytest.importorskip("xgboost")

import benchmarks.unseen.__main__ as command
from benchmarks.unseen import report, study
from benchmarks.unseen.races import cars, horses
from benchmarks.unseen.ratings import films
from benchmarks.unseen.sets import split_of
from benchmarks.unseen.study import ROWS, Run
from benchmarks.unseen.texts import abstracts
from lambdaboost import Queries
from lambdaboost.datasets import Collection, web_search_log

RACES, STARTERS = 12, 7


@pytest.fixture
def rng():
    """A source of values."""
    return np.random.default_rng(4)


def rows_of(data, query):
    """The features of a query by the first, a starter's place in the grid or draw, whatever its grade."""
    X = np.nan_to_num(data.features[data.queries.rows_of([query])], nan=-1.0)
    return X[np.argsort(X[:, 0])]


def start_table(rng):
    """Starters of races in random order of arrival."""
    race = np.repeat(np.arange(RACES), STARTERS)
    place = np.concatenate([1 + rng.permutation(STARTERS) for _ in range(RACES)])
    return pd.DataFrame({"race": race, "starter": np.tile(np.arange(STARTERS), RACES), "place": place})


def written_cars(folder, starts):
    """Ergast's files of these starts."""
    folder.mkdir()
    race, starter = starts["race"] + 1, starts["starter"] + 1
    results = {"raceId": race, "driverId": starter, "constructorId": (starter + 1) // 2, "grid": starter}
    results |= {
        "position": starts["place"],
        "positionOrder": starts["place"],
        "points": STARTERS - starts["place"],
    }
    pd.DataFrame(results).to_csv(folder / "results.csv", index=False)
    times = {f"q{n}": "1:20." + (100 + starter).astype(str) for n in (1, 2, 3)}
    pd.DataFrame({"raceId": race, "driverId": starter, "position": starter, **times}).to_csv(
        folder / "qualifying.csv", index=False
    )
    ids = np.arange(1, RACES + 1)
    dates = [f"2020-{month:02}-01" for month in ids]
    pd.DataFrame({"raceId": ids, "year": 2020, "round": ids, "circuitId": ids % 3, "date": dates}).to_csv(
        folder / "races.csv", index=False
    )
    pd.DataFrame({"driverId": np.arange(1, STARTERS + 1), "dob": "1990-01-01"}).to_csv(
        folder / "drivers.csv", index=False
    )
    return cars(folder)


def written_horses(folder, starts):
    """The Jockey Club's files of these starts."""
    folder.mkdir()
    names = starts["starter"].astype(str)
    runs = {"finishing_position": starts["place"].astype(str), "horse_id": "H" + names, "jockey": "J" + names}
    runs |= {"trainer": "T" + (starts["starter"] // 2).astype(str), "horse_number": starts["starter"]}
    runs |= {
        "draw": starts["starter"],
        "actual_weight": 120,
        "declared_horse_weight": 1000 + starts["starter"],
    }
    runs |= {
        "finish_time": "1.10." + (10 + starts["place"]).astype(str),
        "race_id": "R" + starts["race"].astype(str),
    }
    pd.DataFrame(runs).to_csv(folder / "race-result-horse.csv", index=False)
    of_race = {
        "race_id": [f"R{at}" for at in range(RACES)],
        "race_date": [f"{1 + at}/1/15" for at in range(RACES)],
    }
    of_race |= {"race_course": "Sha Tin", "race_class": "Class 5", "race_distance": 1400}
    pd.DataFrame(of_race | {"track_condition": "GOOD", "track": "TURF"}).to_csv(
        folder / "race-result-race.csv", index=False
    )
    return horses(folder)


@pytest.mark.parametrize("written", [written_cars, written_horses])
def test_a_race_is_ranked_by_earlier_races_alone(written, rng, tmp_path):
    starts = start_table(rng)
    before = written(tmp_path / "a", starts)
    at = RACES // 2
    inside = (starts["race"] == at).to_numpy()
    starts.loc[inside, "place"] = rng.permutation(starts.loc[inside, "place"])
    after = written(tmp_path / "b", starts)
    for race in range(at + 1):
        np.testing.assert_allclose(rows_of(before, race), rows_of(after, race), atol=1e-9)
    assert not np.allclose(rows_of(before, at + 1), rows_of(after, at + 1))


def written_films(folder, table):
    """MovieLens's files of these ratings."""
    folder.mkdir()
    table.to_csv(folder / "u.data", sep="\t", header=False, index=False)
    flags = "|".join("01" * 9)
    lines = [f"{item}|Film {item}|01-Jan-{1950 + item}||url|{item % 2}|{flags}\n" for item in range(1, 31)]
    (folder / "u.item").write_text("".join(lines), encoding="latin-1")
    return films(folder)


def test_ratings_that_are_ranked_are_in_no_feature(rng, tmp_path):
    items = np.concatenate([1 + rng.permutation(30)[:14] for _ in range(20)])
    user = np.repeat(np.arange(20), 14)
    table = pd.DataFrame({"user": user, "item": items, "stars": rng.integers(1, 6, 280)})
    table["time"] = np.tile(np.arange(14), 20)
    before = written_films(tmp_path / "a", table)
    ranked = table["time"] >= 7
    table.loc[ranked, "stars"] = 6 - table.loc[ranked, "stars"]
    after = written_films(tmp_path / "b", table)
    np.testing.assert_array_equal(before.features, after.features)
    np.testing.assert_array_equal(before.queries.relevance, 4 - after.queries.relevance)


def test_source_documents_are_not_ranked(rng, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.unseen.texts.NEAREST", 60)
    words = [f"word{at}x" for at in range(150)]
    texts = [" ".join(rng.choice(words, 30)) for _ in range(60)]
    papers = [f".I {n}\n.T\n{t[:20]}\n.A\na,b.\n.B\n1958.\n.W\n{t}\n" for n, t in enumerate(texts, 1)]
    (tmp_path / "cran.all.1400").write_text("".join(papers), encoding="latin-1")
    questions = [f".I {7 * n}\n.W\n{' '.join(rng.choice(words, 5))}\n" for n in (1, 2)]
    (tmp_path / "cran.qry").write_text("".join(questions), encoding="latin-1")
    judged = [(1, 1, -1), (1, 2, 1), (1, 3, 4), (2, 4, 2), (2, 5, 3)]
    (tmp_path / "cranqrel").write_text(
        "\n".join(" ".join(map(str, row)) for row in judged), encoding="latin-1"
    )
    q = abstracts(tmp_path).queries
    grades = [q.relevance[q.rows_of([at])] for at in (0, 1)]
    assert [sorted(one[one > 0]) for one in grades] == [[1, 4], [2, 3]]
    assert q.sizes.tolist() == [59, 60]


def test_a_query_counts_once_however_many_seeds_test_it():
    def outcome(queries, value):
        every = {f"{row} NDCG@{k}": np.asarray(value, dtype=float) for row in ROWS for k in (3, 10)}
        return every | {"queries": np.array(queries)}

    found = {Run("films", 0): outcome([4, 2], [0.5, 0.2]), Run("films", 1): outcome([4, 9], [0.7, 0.9])}
    np.testing.assert_allclose(report.rows(found, 10, ROWS).values["rank_xendcg"]["films"], [0.2, 0.6, 0.9])


@pytest.fixture
def small(monkeypatch):
    """Two small sets in place of two of those in folders."""
    log = web_search_log(60, documents=8, seed=1)
    bare = Collection(log.features, Queries(log.queries.relevance, log.queries.sizes))
    monkeypatch.setattr("benchmarks.unseen.sets.READERS", {"cars": lambda _: bare, "films": lambda _: bare})
    monkeypatch.setattr(study, "SETTINGS", (2, 3))
    monkeypatch.setattr(study, "FIXED", dict(list(study.FIXED.items())[:2]))
    monkeypatch.setattr(study, "GRIDS", {name: grid[:2] for name, grid in study.GRIDS.items()})
    rows = ("tune, 2 settings", "tune, 3 settings", *study.FIXED, *study.GRIDS)
    for name, value in {"ROWS": rows, "TUNE": rows[1], "SETTINGS": (2, 3)}.items():
        monkeypatch.setattr(report, name, value)


@pytest.mark.slow
def test_the_command_writes_a_report(small, tmp_path):
    for name in ("cars", "films"):
        (tmp_path / name).mkdir()
    first, second = (split_of(tmp_path, "cars", seed) for seed in (0, 1))
    assert first.seen.queries.n_queries == 40 and set(first.queries) != set(second.queries)
    arguments = [str(tmp_path), "--sets", "cars", "films", "--seeds", "1", "--out", str(tmp_path / "out")]
    command.main(arguments)
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "| tune, 3 settings |" in text and "lambdarank, best of 4" in text


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="has no folder horses: put the files there"):
        split_of(tmp_path, "horses", 0)
