"""Formula 1 and horses: the starters of a race by what was known before it.

Features of drivers, horses, jockeys, trainers and teams are of earlier races alone. Odds are left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

PRIOR = 5  # races that a mean of earlier ones is drawn towards the mean of all by


def cars(folder: Path) -> pd.DataFrame:
    """Formula 1: grades 4 for the winner, 3 for places 2 and 3, 2 to place 6, 1 to place 10."""
    read = {
        name: pd.read_csv(folder / f"{name}.csv", na_values="\\N")
        for name in ("results", "races", "qualifying", "drivers")
    }
    best = read["qualifying"].set_index(["raceId", "driverId"])[["q1", "q2", "q3"]].map(_seconds).min(axis=1)
    place = (
        read["qualifying"]
        .drop_duplicates(["raceId", "driverId"])
        .set_index(["raceId", "driverId"])["position"]
    )
    starts = read["results"].sort_values("positionOrder").drop_duplicates(["raceId", "driverId"])
    starts = starts.merge(read["races"][["raceId", "year", "round", "circuitId", "date"]], on="raceId")
    starts = starts.merge(read["drivers"][["driverId", "dob"]], on="driverId")
    starts["date"] = pd.to_datetime(starts["date"])
    starts["race"] = starts["date"].rank(method="dense").astype(int)
    starts = starts.sort_values(["race", "positionOrder"], kind="stable", ignore_index=True)
    starts["retired"] = starts["position"].isna().astype(float)
    starts["result"] = starts["positionOrder"] / starts.groupby("race")["driverId"].transform("size")
    starts["won"] = (starts["positionOrder"] == 1).astype(float)
    pairs = pd.MultiIndex.from_frame(starts[["raceId", "driverId"]])
    fastest = best[~best.index.duplicated()].reindex(pairs).to_numpy()
    seconds = pd.Series(fastest, starts.index)
    season = starts["year"].astype(str)
    features = pd.DataFrame(
        {
            "grid": starts["grid"].where(starts["grid"] > 0, 30),
            "qualifying": place.reindex(pairs).to_numpy(),
            "behind the fastest": seconds / seconds.groupby(starts["race"]).transform("min"),
            "round": starts["round"],
            "year": starts["year"],
            "starters": starts.groupby("race")["driverId"].transform("size"),
            "age": (starts["date"] - pd.to_datetime(starts["dob"])).dt.days,
            "earlier races": starts.groupby("driverId").cumcount(),
            "last 3 results": _last(starts, "driverId", "result", 3),
            "last 10 results": _last(starts, "driverId", "result", 10),
            "at this circuit": _earlier(starts, starts["driverId"] * 1000 + starts["circuitId"], "result"),
            "season's points": _earlier(
                starts, season + " " + starts["driverId"].astype(str), "points", total=True
            ),
            "team's season": _earlier(
                starts, season + " " + starts["constructorId"].astype(str), "points", total=True
            ),
            "team's season results": _earlier(
                starts, season + " " + starts["constructorId"].astype(str), "result"
            ),
            **{
                f"{of}'s {what}": _earlier(starts, starts[key], what)
                for of, key in (("driver", "driverId"), ("team", "constructorId"))
                for what in ("result", "won", "retired")
            },
        }
    )
    grade = pd.cut(starts["positionOrder"], [0, 1, 3, 6, 10, np.inf], labels=[4, 3, 2, 1, 0]).astype(int)
    return features.assign(query=starts["race"], grade=grade)


def horses(folder: Path) -> pd.DataFrame:
    """Hong Kong: grades 4 to 1 for the first four."""
    starts = pd.read_csv(folder / "race-result-horse.csv", encoding="latin-1")
    known = ["race_id", "race_date", "race_course", "race_class", "race_distance", "track_condition", "track"]
    about = pd.read_csv(folder / "race-result-race.csv", encoding="latin-1", usecols=known)
    starts = starts.merge(about.drop_duplicates("race_id"), on="race_id")
    starts["place"] = pd.to_numeric(starts["finishing_position"].astype(str).str.extract(r"(\d+)")[0])
    starts = starts[starts["place"].notna() & starts["draw"].notna()]
    date = pd.to_datetime(starts["race_date"], format="%m/%d/%y")
    starts["race"] = (date.astype(str) + starts["race_id"]).rank(method="dense").astype(int)
    starts = starts.assign(date=date).sort_values(["race", "place"], kind="stable", ignore_index=True)
    runners = starts.groupby("race")["horse_id"].transform("size")
    starts["result"] = starts["place"] / runners
    starts["won"] = (starts["place"] == 1).astype(float)
    time = starts["finish_time"].map(_seconds)
    by_race = time.groupby(starts["race"])
    starts["time"] = (
        ((time - by_race.transform("mean")) / (by_race.transform("std") + 0.01)).clip(-4, 4).fillna(0)
    )
    by_horse = starts.groupby("horse_id")
    distance = starts["horse_id"] + " " + starts["race_distance"].astype(str)
    course = starts["horse_id"] + " " + starts["race_course"]
    pair = starts["horse_id"] + " " + starts["jockey"]
    features = pd.DataFrame(
        {
            "draw": starts["draw"],
            "number": starts["horse_number"],
            "weight": starts["actual_weight"],
            "horse's weight": starts["declared_horse_weight"],
            "change of weight": by_horse["declared_horse_weight"].diff(),
            "change of load": by_horse["actual_weight"].diff(),
            "days since": by_horse["date"].diff().dt.days,
            "earlier races": by_horse.cumcount(),
            "runners": runners,
            "distance": starts["race_distance"],
            **{
                name: pd.factorize(starts[name], sort=True)[0]
                for name in ("race_class", "track", "track_condition")
            },
            **{
                f"last {n} {what}s": _last(starts, "horse_id", what, n)
                for n in (1, 3, 6)
                for what in ("result", "time")
            },
            "best time": by_horse["time"].transform(lambda values: values.shift().cummin()),
            "at this distance": _earlier(starts, distance, "time"),
            "on this course": _earlier(starts, course, "time"),
            "with this jockey": _earlier(starts, pair, "time"),
            **{
                f"{of}'s {what}": _earlier(starts, starts[key], what)
                for of, key in (("horse", "horse_id"), ("jockey", "jockey"), ("trainer", "trainer"))
                for what in ("result", "won")
            },
        }
    )
    grade = (5 - starts["place"]).clip(0, 4).astype(int)
    return features.assign(query=starts["race"], grade=grade)


def _earlier(starts: pd.DataFrame, key: pd.Series, column: str, total: bool = False) -> pd.Series:
    """The mean of a column over a key's earlier races, or the sum; a key may have several starters in a race."""
    table = pd.DataFrame({"key": key, "race": starts["race"], "value": starts[column]})
    of_race = table.groupby(["key", "race"])["value"].agg(["sum", "count"])
    before = of_race.groupby(level="key").cumsum() - of_race
    found = before["sum"]
    if not total:
        found = (found + PRIOR * starts[column].mean()) / (before["count"] + PRIOR)
    return table.join(found.rename("found"), on=["key", "race"])["found"]


def _last(starts: pd.DataFrame, key: str, column: str, n: int) -> pd.Series:
    """The mean of a column over the last n races of a driver or a horse, one starter of a race each."""
    return starts.groupby(key)[column].transform(
        lambda values: values.shift().rolling(n, min_periods=1).mean()
    )


def _seconds(text: object) -> float:
    """Minutes and seconds, such as 1:26.5 or 1.08.68; NaN for none."""
    parts = str(text).replace(":", ".").split(".")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return np.nan
    return 60.0 * int(parts[0]) + float(f"{parts[1]}.{parts[2]}")
