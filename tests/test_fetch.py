"""Public data sets from a server on this machine, and from folders: whole, cut, tampered with, and what is left."""

import hashlib
import http.server
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import zipfile
from dataclasses import replace

import pytest

from lambdaboost.cli.run import run
from lambdaboost.datasets import fetch, read_letor
from lambdaboost.datasets.catalogue import CATALOGUE, FOLDS, published

pytest.importorskip("pooch")
LINE = b"%d qid:%d 1:%f 2:1 # docid = d%d\n"


def text(seed, lines=400):
    return b"".join(LINE % (i % 3, i // 10, (i * 7 + seed) % 11 / 11, i) for i in range(lines))


TEXTS = {name: text(i) for i, name in enumerate(FOLDS)}
YAHOO = {name: text(i, 30) for i, name in enumerate(CATALOGUE["yahoo-ltrc"].files)}


def zipped(texts, top="MSLR-WEB10K/"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in texts.items():
            archive.writestr(top + name, content)
    return file.getvalue()


def tarred(texts, mode="w:gz"):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, content in texts.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


ZIP = zipped(TEXTS)


class Server(http.server.ThreadingHTTPServer):
    """Gives `body`; `cuts` says after how many bytes each further answer breaks off, `ranged` whether it can go on."""

    body = ZIP
    kind = "application/zip"

    def __init__(self):
        self.cuts, self.asked, self.ranged = [], [], True
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range")
        server.asked.append(asked)
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked and server.ranged else 0
        rest = server.body[start:]
        if asked and not rest:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", server.kind)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: server.cuts.pop(0)] if server.cuts else rest)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LAMBDABOOST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def mslr(server, cache, monkeypatch):
    """mslr-web10k as the server here has it."""
    here = replace(
        CATALOGUE["mslr-web10k"],
        address=f"http://127.0.0.1:{server.server_port}/MSLR-WEB10K.zip",
        size=len(ZIP),
        sha256=hashlib.sha256(ZIP).hexdigest(),
    )
    monkeypatch.setitem(CATALOGUE, "mslr-web10k", here)
    return here


def test_downloaded_once_and_read_at_once(server, mslr, cache):
    home = fetch("mslr-web10k")
    assert home == cache / "mslr-web10k" and fetch("mslr-web10k") == home and server.asked == [None]
    assert {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*.txt")} == TEXTS
    assert read_letor(home / "Fold1" / "train.txt").queries.n_documents == 400
    assert sorted(os.listdir(cache)) == ["mslr-web10k", "mslr-web10k.lock.json"]
    lock = json.loads((cache / "mslr-web10k.lock.json").read_text())
    assert lock["published_archive_sha256"] == mslr.sha256
    assert lock["files"] == {name: hashlib.sha256(content).hexdigest() for name, content in TEXTS.items()}


def came(asked):
    """How much had come, as a further request says."""
    return int(re.fullmatch(r"bytes=(\d+)-", asked)[1])


def test_a_cut_is_taken_up_where_it_was(server, mslr):
    server.cuts = [50_000, 100_000]
    fetch("mslr-web10k")
    first, second = came(server.asked[1]), came(server.asked[2])
    assert 0 < first <= 50_000 and first < second <= first + 100_000 and len(server.asked) == 3


def test_a_server_that_cannot_go_on_starts_again(server, mslr):
    server.cuts, server.ranged = [50_000], False
    fetch("mslr-web10k")
    assert len(server.asked) == 2 and came(server.asked[1]) > 0


def test_what_came_before_a_lasting_cut_is_kept_for_the_next_time(server, mslr, cache):
    server.cuts = [50_000, 0, 0]
    with pytest.raises(ConnectionError, match=r"49,152 bytes are kept.*1drv\.ms.*--from FOLDER"):
        fetch("mslr-web10k")
    assert os.listdir(cache) == ["MSLR-WEB10K.zip.part"]
    server.cuts = []
    fetch("mslr-web10k")
    assert server.asked[-1] == "bytes=49152-" and not (cache / "MSLR-WEB10K.zip.part").exists()


def test_what_has_come_whole_is_not_asked_for_again(server, mslr, cache, monkeypatch):
    """As after a stop between the last byte and the check, where the size is known and where it is not."""
    for size, asked in ((len(ZIP), []), (None, [f"bytes={len(ZIP)}-"])):
        monkeypatch.setitem(CATALOGUE, "mslr-web10k", replace(mslr, size=size))
        cache.mkdir(exist_ok=True)
        (cache / "MSLR-WEB10K.zip.part").write_bytes(ZIP)
        home = fetch("mslr-web10k")
        assert server.asked == asked
        home.rename(cache / f"first{size}")


def test_more_than_the_whole_is_thrown_away(server, mslr, cache):
    cache.mkdir()
    (cache / "MSLR-WEB10K.zip.part").write_bytes(ZIP + b"x")
    with pytest.raises(ValueError, match="another SHA-256"):
        fetch("mslr-web10k")
    assert os.listdir(cache) == [] and fetch("mslr-web10k")


def test_tampered_archives_are_thrown_away(server, mslr, cache):
    server.body = ZIP[:1000] + bytes([ZIP[1000] ^ 1]) + ZIP[1001:]
    with pytest.raises(ValueError, match=f"another SHA-256 than {mslr.sha256}.*thrown away"):
        fetch("mslr-web10k")
    assert os.listdir(cache) == []


def test_a_page_in_place_of_the_file_is_not_taken(server, mslr, cache):
    server.body, server.kind = b"<html>sign in</html>", "text/html"
    with pytest.raises(ConnectionError, match=r"offers 20 bytes of text/html, not .*sign-in"):
        fetch("mslr-web10k")
    assert os.listdir(cache) == []


def test_refusals_of_the_server_are_told(mslr, cache, monkeypatch):
    monkeypatch.setattr(Handler, "do_GET", lambda self: self.send_error(400))
    with pytest.raises(ConnectionError, match="the server answers 400 Bad Request"):
        fetch("mslr-web10k")
    assert os.listdir(cache) == []


def test_no_server(cache, monkeypatch):
    monkeypatch.setitem(
        CATALOGUE, "istella", replace(CATALOGUE["istella"], address="http://127.0.0.1:9/", size=100)
    )
    with pytest.raises(ConnectionError, match="no connection"):
        fetch("istella")
    assert os.listdir(cache) == []


def test_no_room(mslr, cache, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "mslr-web10k", replace(mslr, size=10**18))
    with pytest.raises(
        ValueError, match="bytes free: make room, or name another folder in LAMBDABOOST_CACHE"
    ):
        fetch("mslr-web10k")
    assert os.listdir(cache) == []


def test_a_disk_that_fills_up_leaves_nothing_half_written(cache, tmp_path):
    """As another process, whose files may not grow past a few bytes."""
    resource = pytest.importorskip("resource")  # of POSIX systems
    have = tmp_path / "have"
    write(have, TEXTS)
    code = "from lambdaboost.datasets import fetch; fetch('mq2008', 'have')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000)),
    )
    assert done.returncode != 0 and "File too large" in done.stderr
    assert os.listdir(cache) == []


def write(folder, texts):
    for name, content in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_texts_from_a_folder_are_copied_plain(cache, tmp_path):
    have = tmp_path / "letor" / "MQ2008"
    write(have, TEXTS)
    packed = have / "Fold1" / "train.txt"
    subprocess.run(["gzip", str(packed)], check=True)
    home = fetch("mq2008", tmp_path / "letor")
    assert (home / "Fold1" / "train.txt").read_bytes() == TEXTS["Fold1/train.txt"]
    assert len(list(have.rglob("*.txt*"))) == len(FOLDS)  # what the user has is as it was
    assert json.loads((cache / "mq2008.lock.json").read_text())["published_archive_sha256"] is None


def test_an_archive_in_an_archive(cache, tmp_path):
    (tmp_path / "dataset.tgz").write_bytes(tarred({"ltrc_yahoo.tar.bz2": tarred(YAHOO, "w:bz2")}))
    home = fetch("yahoo-ltrc", tmp_path)
    assert {path.name: path.read_bytes() for path in home.iterdir()} == YAHOO


def test_archives_in_folders_are_checked_by_the_published_hash(mslr, tmp_path, cache):
    (tmp_path / "MSLR-WEB10K.zip").write_bytes(ZIP[:-1] + b"x")
    with pytest.raises(ValueError, match=f"not {mslr.sha256}, which was published"):
        fetch("mslr-web10k", tmp_path)
    (tmp_path / "MSLR-WEB10K.zip").write_bytes(ZIP)
    assert (fetch("mslr-web10k", tmp_path) / "Fold5" / "test.txt").exists()


def test_damaged_and_wrong_archives(cache, tmp_path):
    archive = tmp_path / "dataset.tgz"
    whole = tarred(YAHOO)
    for content, message in (
        (whole[: len(whole) // 2], "is damaged"),
        (b"nothing", "is damaged"),
        (tarred({"other.txt": b"x"}), r"does not hold set1\.train\.txt"),
        (tarred(YAHOO | {"set1.train.txt": b"<html>"}), r"set1\.train\.txt is no LETOR text"),
    ):
        archive.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            fetch("yahoo-ltrc", tmp_path)
        assert os.listdir(cache) == []
    (tmp_path / "MQ2007.rar").write_bytes(b"Rar!")
    with pytest.raises(ValueError, match="is a RAR archive, which Python cannot unpack"):
        fetch("mq2007", tmp_path)


def test_what_changes_in_the_cache_is_noticed(cache, tmp_path):
    write(tmp_path / "have", TEXTS)
    home = fetch("mq2008", tmp_path / "have")
    changed = home / "Fold3" / "vali.txt"
    changed.write_bytes(changed.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"has changed: Fold3/vali\.txt has another SHA-256 .*remove"):
        fetch("mq2008")
    changed.unlink()
    with pytest.raises(ValueError, match=r"Fold3/vali\.txt is missing"):
        fetch("mq2008")


def test_what_comes_first_is_trusted_and_no_other_after(cache, tmp_path):
    write(tmp_path / "have", TEXTS)
    home = fetch("mq2008", tmp_path / "have")
    home.rename(tmp_path / "away")
    write(tmp_path / "other", TEXTS | {"Fold2/test.txt": text(99)})
    with pytest.raises(ValueError, match="this is not the mq2008 fetched before: Fold2/test"):
        fetch("mq2008", tmp_path / "other")
    assert not home.exists()
    assert fetch("mq2008", tmp_path / "have") == home
    (cache / "mq2008.lock.json").write_text("{")
    with pytest.raises(ValueError, match="is no lock file"):
        fetch("mq2008")


def test_mistakes(cache, tmp_path):
    with pytest.raises(ValueError, match="name is 'mq2009': fetch knows mslr-web10k"):
        fetch("mq2009")
    for name in ("mq2007", "yahoo-ltrc"):
        with pytest.raises(ValueError, match=f"cannot be downloaded without you.*fetch {name} --from FOLDER"):
            fetch(name)
    with pytest.raises(ValueError, match="there is no such folder"):
        fetch("mq2008", tmp_path / "none")
    with pytest.raises(ValueError, match=r"holds neither MQ2008\.rar nor all of its 15 texts"):
        fetch("mq2008", tmp_path)


@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue(name):
    """What is known of a set hangs together: exact sizes and hashes come together, and only with an address."""
    known = published(name)
    assert known.name == name and known.page.startswith("http") and known.terms and known.files
    assert (known.size is None) == (known.sha256 is None) == (known.address is None)
    if known.size is not None:
        assert re.fullmatch("[0-9a-f]{64}", known.sha256) and known.roughly == f"{known.size / 1e9:.2f} GB"


def call(capsys, *args):
    capsys.readouterr()
    code = run([str(arg) for arg in args])
    return code, *capsys.readouterr()


def test_command(capsys, mslr, cache, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    code, out, err = call(capsys, "fetch", "mslr-web10k")
    assert (code, out) == (1, "") and err.endswith("give --yes if you accept the terms of mslr-web10k\n")
    assert (
        mslr.page in err and "accept the owner's agreement" in err and "1.23 GB" in err and not cache.exists()
    )
    code, out, err = call(capsys, "fetch", "mslr-web10k", "--yes", "--json")
    assert code == 0, err
    assert json.loads(out)["folder"] == str(cache / "mslr-web10k")
    code, out, err = call(capsys, "fetch", "mslr-web10k")  # there, so that nothing is asked
    assert (code, err) == (0, "") and out.startswith(str(cache / "mslr-web10k"))
    code, out, _ = call(capsys, "fetch")
    assert code == 0 and all(name in out for name in CATALOGUE) and "in the cache" in out
    assert [told["name"] for told in json.loads(call(capsys, "fetch", "--json")[1])] == list(CATALOGUE)
    code, out, err = call(capsys, "fetch", "mq2008", "--from", cache / "none")
    assert (code, out) == (1, "") and "no such folder" in err
    assert "--from needs the name" in call(capsys, "fetch", "--from", cache)[2]
