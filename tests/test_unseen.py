"""The benchmark of tune on unseen data: features know nothing of what is ranked, and how rows are put together."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

import benchmarks.unseen.__main__ as command
from benchmarks.unseen import report, study
from benchmarks.unseen.races import cars, horses
from benchmarks.unseen.ratings import films
from benchmarks.unseen.sets import split_of
from benchmarks.unseen.study import Run
from benchmarks.unseen.texts import abstracts
from lambdaboost.datasets import web_search_log

RACES, STARTERS = 12, 7
RNG = np.random.default_rng(4)


def features_of(table, query):
    """The features of a query's rows by the first, a starter's place in the grid or draw, whatever its grade."""
    X = table[table["query"] == query].drop(columns=["query", "grade"]).to_numpy(dtype=float)
    return np.nan_to_num(X[np.argsort(X[:, 0])], nan=-1.0)


def written(folder, read, **tables):
    """What is read of these tables, each a file."""
    folder.mkdir()
    for name, table in tables.items():
        pd.DataFrame(table).to_csv(folder / f"{name.replace('_', '-')}.csv", index=False)
    return read(folder)


def written_cars(folder, starts):
    race, starter, place = starts["race"] + 1, starts["starter"] + 1, starts["place"]
    results = {"raceId": race, "driverId": starter, "constructorId": (starter + 1) // 2, "grid": starter}
    results |= {"position": place, "positionOrder": place, "points": STARTERS - place}
    times = {f"q{n}": "1:20." + (100 + starter).astype(str) for n in (1, 2, 3)}
    ids = np.arange(1, RACES + 1)
    dates = [f"2020-{month:02}-01" for month in ids]
    return written(
        folder,
        cars,
        results=results,
        qualifying={"raceId": race, "driverId": starter, "position": starter, **times},
        races={"raceId": ids, "year": 2020, "round": ids, "circuitId": ids % 3, "date": dates},
        drivers={"driverId": np.arange(1, STARTERS + 1), "dob": "1990-01-01"},
    )


def written_horses(folder, starts):
    at, names, place = starts["starter"], starts["starter"].astype(str), starts["place"]
    runs = {"finishing_position": place.astype(str), "horse_id": "H" + names, "jockey": "J" + names}
    runs |= {"trainer": "T" + (at // 2).astype(str), "horse_number": at, "draw": at, "actual_weight": 120}
    runs |= {"declared_horse_weight": 1000 + at, "finish_time": "1.10." + (10 + place).astype(str)}
    runs |= {"race_id": "R" + starts["race"].astype(str)}
    races = {"race_id": [f"R{n}" for n in range(RACES)], "race_date": [f"{1 + n}/1/15" for n in range(RACES)]}
    races |= {"race_course": "Sha Tin", "race_class": "Class 5", "race_distance": 1400}
    races |= {"track_condition": "GOOD", "track": "TURF"}
    return written(folder, horses, race_result_horse=runs, race_result_race=races)


@pytest.mark.parametrize("written", [written_cars, written_horses])
def test_a_race_is_ranked_by_earlier_races_alone(written, tmp_path):
    race, starter = np.repeat(np.arange(RACES), STARTERS), np.tile(np.arange(STARTERS), RACES)
    place = np.concatenate([1 + RNG.permutation(STARTERS) for _ in range(RACES)])
    starts = pd.DataFrame({"race": race, "starter": starter, "place": place})
    before = written(tmp_path / "a", starts)
    at, races = RACES // 2, before["query"].unique()
    starts.loc[race == at, "place"] = RNG.permutation(starts.loc[race == at, "place"])
    after = written(tmp_path / "b", starts)
    for query in races[: at + 1]:
        np.testing.assert_allclose(features_of(before, query), features_of(after, query), atol=1e-9)
    assert not np.allclose(features_of(before, races[at + 1]), features_of(after, races[at + 1]))


def written_films(folder, table):
    folder.mkdir()
    table.to_csv(folder / "u.data", sep="\t", header=False, index=False)
    flags = "|".join("01" * 9)
    lines = [f"{item}|Film {item}|01-Jan-{1950 + item}||url|{item % 2}|{flags}\n" for item in range(1, 31)]
    (folder / "u.item").write_text("".join(lines), encoding="latin-1")
    return films(folder)


def test_ratings_that_are_ranked_are_in_no_feature(tmp_path):
    items = np.concatenate([1 + RNG.permutation(30)[:14] for _ in range(20)])
    table = pd.DataFrame({"user": np.repeat(np.arange(20), 14), "item": items})
    table["stars"], table["time"] = RNG.integers(1, 6, 280), np.tile(np.arange(14), 20)
    before = written_films(tmp_path / "a", table)
    ranked = table["time"] >= 7
    table.loc[ranked, "stars"] = 6 - table.loc[ranked, "stars"]
    after = written_films(tmp_path / "b", table)
    pd.testing.assert_frame_equal(before.drop(columns="grade"), after.drop(columns="grade"))
    np.testing.assert_array_equal(before["grade"], 4 - after["grade"])


def test_source_documents_are_not_ranked(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.unseen.texts.NEAREST", 60)
    words = [f"word{at}x" for at in range(150)]
    texts = [" ".join(RNG.choice(words, 30)) for _ in range(60)]
    papers = [f".I {n}\n.T\n{t[:20]}\n.A\na,b.\n.B\n1958.\n.W\n{t}\n" for n, t in enumerate(texts, 1)]
    (tmp_path / "cran.all.1400").write_text("".join(papers), encoding="latin-1")
    questions = [f".I {7 * n}\n.W\n{' '.join(RNG.choice(words, 5))}\n" for n in (1, 2)]
    (tmp_path / "cran.qry").write_text("".join(questions), encoding="latin-1")
    (tmp_path / "cranqrel").write_text("1 1 -1\n1 2 1\n1 3 4\n2 4 2\n2 5 3", encoding="latin-1")
    grades = abstracts(tmp_path).groupby("query")["grade"]
    assert [sorted(of[of > 0]) for _, of in grades] == [[1, 4], [2, 3]] and [*grades.size()] == [59, 60]


def test_a_query_counts_once_however_many_seeds_test_it():
    def outcome(queries, values):
        return {"rank_xendcg NDCG@10": np.array(values), "queries": np.array(queries)}

    found = {Run("films", 0): outcome([4, 2], [0.5, 0.2]), Run("films", 1): outcome([4, 9], [0.7, 0.9])}
    np.testing.assert_allclose(report.by_query(found, "rank_xendcg", "films", 10), [0.2, 0.6, 0.9])


@pytest.mark.slow
def test_the_command_writes_a_report(tmp_path, monkeypatch):
    """On two small sets in place of two of those in folders; what is done is not done again."""
    log = web_search_log(60, documents=8, seed=1)
    table = pd.DataFrame(log.features).rename(columns=str)
    table = table.assign(query=log.queries.query_of_row, grade=log.queries.relevance)
    readers = {"cars": lambda _: table, "films": lambda _: table}
    monkeypatch.setattr("benchmarks.unseen.sets.READERS", readers)
    monkeypatch.setattr(study, "FIXED", dict(list(study.FIXED.items())[:2]))
    for name in readers:
        (tmp_path / name).mkdir()
    first, second = (split_of(tmp_path, "cars", seed) for seed in (0, 1))
    assert first.seen.queries.n_queries == 35 and set(first.queries) != set(second.queries)
    out = tmp_path / "out"
    sets = [command.Name.cars, command.Name.films]
    command.main(tmp_path, sets, seeds=1, out=out)
    text = (out / "report.md").read_text(encoding="utf-8")
    assert all(f"\n| {row} |" in text for row in ("tune", "lambdarank", "rank_xendcg", "cars", "films"))
    monkeypatch.setattr(command, "outcome_of", None)
    command.main(tmp_path, sets, seeds=1, out=out)
    assert (out / "report.md").read_text(encoding="utf-8") == text
