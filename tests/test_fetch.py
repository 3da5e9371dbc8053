"""Public data sets from a server on this machine, and from folders: whole, cut, tampered with, and what is left."""

import gzip
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import stat
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
posix = pytest.mark.skipif(os.name != "posix", reason="files are locked and links planted as POSIX has them")
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
    lock = json.loads((cache / "mslr-web10k.lock.json").read_text(encoding="utf-8"))
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


def test_what_has_come_whole_is_not_asked_for_again(server, mslr, cache):
    """As after a stop between the last byte and the check."""
    cache.mkdir()
    (cache / "MSLR-WEB10K.zip.part").write_bytes(ZIP)
    assert fetch("mslr-web10k").is_dir() and server.asked == []


def test_more_than_the_whole_is_thrown_away(server, mslr, cache):
    cache.mkdir()
    (cache / "MSLR-WEB10K.zip.part").write_bytes(ZIP + b"x")
    assert fetch("mslr-web10k").is_dir() and server.asked == [None]


@pytest.mark.parametrize("how", ["chunked", "until it closes"])
def test_an_answer_without_length_is_read_no_further_than_the_size(mslr, cache, monkeypatch, how):
    sent = 0

    def endless(handler):
        nonlocal sent
        handler.protocol_version = "HTTP/1.1" if how == "chunked" else "HTTP/1.0"
        handler.send_response(200)
        if how == "chunked":
            handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        block = bytes(1 << 16)
        while sent < 100 * len(ZIP) + (50 << 20):
            handler.wfile.write(b"10000\r\n%s\r\n" % block if how == "chunked" else block)
            sent += len(block)

    monkeypatch.setattr(Handler, "do_GET", endless)
    with pytest.raises(ConnectionError, match=rf"sends more than the {len(ZIP):,} bytes of the file"):
        fetch("mslr-web10k")
    assert sent < len(ZIP) + (40 << 20) and os.listdir(cache) == []  # what the sockets hold comes on top


def test_an_answer_without_length_that_is_short_is_a_cut(server, mslr, cache, monkeypatch):
    monkeypatch.setattr(Handler, "send_header", lambda *_: None)
    server.cuts = [50_000, 0, 0]
    with pytest.raises(ConnectionError, match="50,000 bytes are kept"):
        fetch("mslr-web10k")
    assert fetch("mslr-web10k").is_dir()


def test_a_compressed_answer_does_not_grow_past_the_size(mslr, cache, monkeypatch):
    """A server may compress what was asked for as it is."""

    def bomb(handler):
        body = gzip.compress(bytes(len(ZIP) * 20))
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    monkeypatch.setattr(Handler, "do_GET", bomb)
    with pytest.raises(ConnectionError, match=r"the server (sends more than|offers)"):
        fetch("mslr-web10k")
    assert os.listdir(cache) == []


@posix
def test_two_fetches_at_once_do_not_write_one_file(server, mslr, cache, monkeypatch):
    whole, half_sent, go_on = Handler.do_GET, threading.Event(), threading.Event()

    def slow(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(ZIP)))
        handler.end_headers()
        handler.wfile.write(ZIP[:100_000])
        handler.wfile.flush()
        half_sent.set()
        go_on.wait(20)
        handler.wfile.write(ZIP[100_000:])

    monkeypatch.setattr(Handler, "do_GET", slow)
    homes = []
    first = threading.Thread(target=lambda: homes.append(fetch("mslr-web10k")))
    first.start()
    try:
        assert half_sent.wait(20)
        monkeypatch.setattr(Handler, "do_GET", whole)
        with pytest.raises(OSError, match=r"another fetch is writing .*MSLR-WEB10K\.zip\.part: wait"):
            fetch("mslr-web10k")
    finally:
        go_on.set()
        first.join()
    assert homes == [cache / "mslr-web10k"] and fetch("mslr-web10k") == homes[0]


@posix
@pytest.mark.parametrize("kind", ["symlink", "hard link", "pipe"])
def test_nothing_is_written_through_a_planted_part(server, mslr, cache, tmp_path, kind):
    cache.mkdir()
    victim, part = tmp_path / "victim", cache / "MSLR-WEB10K.zip.part"
    victim.write_bytes(b"mine")
    {"symlink": part.symlink_to, "hard link": part.hardlink_to}.get(kind, lambda _: os.mkfifo(part))(victim)
    with pytest.raises(ValueError, match=r"part is a link or not a regular file.*remove it"):
        fetch("mslr-web10k")
    assert victim.read_bytes() == b"mine" and server.asked == []


def test_tampered_archives_are_thrown_away(server, mslr, cache):
    server.body = ZIP[:1000] + bytes([ZIP[1000] ^ 1]) + ZIP[1001:]
    with pytest.raises(ValueError, match=f"does not have the published SHA-256 {mslr.sha256}.*removed"):
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


def test_a_disk_without_space(mslr, cache, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "mslr-web10k", replace(mslr, size=10**18))
    with pytest.raises(
        ValueError, match="bytes free: free some space, or set LAMBDABOOST_CACHE to another folder"
    ):
        fetch("mslr-web10k")
    assert os.listdir(cache) == []


@posix
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
    assert (
        json.loads((cache / "mq2008.lock.json").read_text(encoding="utf-8"))["published_archive_sha256"]
        is None
    )


def test_an_archive_in_an_archive(cache, tmp_path):
    (tmp_path / "dataset.tgz").write_bytes(tarred({"ltrc_yahoo.tar.bz2": tarred(YAHOO, "w:bz2")}))
    home = fetch("yahoo-ltrc", tmp_path)
    assert {path.name: path.read_bytes() for path in home.iterdir()} == YAHOO


def test_archives_in_folders_are_checked_by_the_published_hash(mslr, tmp_path, cache):
    (tmp_path / "MSLR-WEB10K.zip").write_bytes(ZIP[:-1] + b"x")
    with pytest.raises(ValueError, match=f"not the published {mslr.sha256}"):
        fetch("mslr-web10k", tmp_path)
    (tmp_path / "MSLR-WEB10K.zip").write_bytes(ZIP)
    assert (fetch("mslr-web10k", tmp_path) / "Fold5" / "test.txt").exists()


def linked(name, content, kind, target):
    """A tar archive in which `name` is preceded by a link of another name, or is one itself."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        link = tarfile.TarInfo("set1.train.txt" if name is None else "inside")
        link.type, link.linkname = kind, target
        archive.addfile(link)
        for path, text_ in YAHOO.items():
            if name is None and path == "set1.train.txt":
                continue
            info = tarfile.TarInfo(path)
            info.size = len(text_)
            archive.addfile(info, io.BytesIO(text_))
        if name is not None:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def test_nothing_of_an_archive_is_written_but_the_wanted_texts(cache, tmp_path, monkeypatch):
    """Whatever paths it holds, and by our own reading: neither extract nor extractall is called."""
    for kind in (tarfile.TarFile, zipfile.ZipFile):
        for method in ("extract", "extractall"):
            monkeypatch.setattr(kind, method, lambda *_, **__: pytest.fail("extracted"))
    have, outside = tmp_path / "have", tmp_path / "outside"
    have.mkdir()
    outside.mkdir()
    further = {
        "../escaped.txt": b"x",
        f"{outside}/absolute.txt": b"x",
        "../../set1.train.txt": b"x",
        "a/../../../set1.valid.txt": b"x",
        "readme.txt": b"x",
        "a/b/c/set1.train.txt": b"deeper than any folder that is looked into",
    }
    for archive, content in (
        ("tar", tarred(further | YAHOO)),
        ("zip", zipped(further | YAHOO, top="")),
        ("through a link", linked("inside/escaped.txt", b"x", tarfile.SYMTYPE, str(outside))),
    ):
        (have / "dataset.tgz").write_bytes(content)
        home = fetch("yahoo-ltrc", have)
        assert {path.name: path.read_bytes() for path in home.rglob("*")} == YAHOO, archive
        assert os.listdir(outside) == [] and not list(tmp_path.rglob("escaped.txt")), archive
        assert sorted(os.listdir(cache)) == ["yahoo-ltrc", "yahoo-ltrc.lock.json"], archive
        shutil.rmtree(cache)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_text_that_is_no_regular_file_of_an_archive_is_not_there(cache, tmp_path, kind):
    secret = tmp_path / "secret"
    secret.write_bytes(YAHOO["set1.train.txt"])
    (tmp_path / "dataset.tgz").write_bytes(linked(None, b"", kind, str(secret)))
    with pytest.raises(ValueError, match=r"does not hold set1\.train\.txt"):
        fetch("yahoo-ltrc", tmp_path)
    assert os.listdir(cache) == []


def test_a_zip_that_links_or_is_encrypted(cache, tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in YAHOO.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16 if name == "set1.train.txt" else 0
            archive.writestr(info, "/etc/hostname" if info.external_attr else content)
    (tmp_path / "dataset.tgz").write_bytes(file.getvalue())
    with pytest.raises(ValueError, match="does not hold"):
        fetch("yahoo-ltrc", tmp_path)
    plain = bytearray(zipped(YAHOO, top=""))
    for at in (plain.index(b"PK\x03\x04") + 6, plain.index(b"PK\x01\x02") + 8):
        plain[at] |= 1  # the flag of an encrypted member
    (tmp_path / "dataset.tgz").write_bytes(plain)
    with pytest.raises(ValueError, match=r"is damaged: .*encrypted"):
        fetch("yahoo-ltrc", tmp_path)


def test_a_text_twice_in_an_archive(cache, tmp_path):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in [*YAHOO.items(), ("set1.train.txt", text(9))]:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    (tmp_path / "dataset.tgz").write_bytes(file.getvalue())
    with pytest.raises(ValueError, match=r"holds set1\.train\.txt twice"):
        fetch("yahoo-ltrc", tmp_path)


def test_damaged_and_wrong_archives(cache, tmp_path):
    archive = tmp_path / "dataset.tgz"
    whole = tarred(YAHOO)
    for content, message in (
        (whole[: len(whole) // 2], "is damaged"),
        (b"nothing", "is damaged"),
        (tarred({"other.txt": b"x"}), r"does not hold set1\.train\.txt"),
        (tarred(YAHOO | {"set1.train.txt": b"<html>"}), r"set1\.train\.txt is not LETOR text"),
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


def test_a_folder_that_cannot_be_checked_does_not_pass(cache, tmp_path):
    write(tmp_path / "have", TEXTS)
    home = fetch("mq2008", tmp_path / "have")
    lock = cache / "mq2008.lock.json"
    recorded = lock.read_text(encoding="utf-8")
    lock.unlink()
    with pytest.raises(
        ValueError, match=r"cannot be verified: .*mq2008\.lock\.json does not exist; remove the folder"
    ):
        fetch("mq2008")
    lock.write_text(json.dumps({"files": {}}))
    with pytest.raises(ValueError, match=r"does not exist|does not record"):
        fetch("mq2008")
    files = json.loads(recorded)["files"]
    del files["Fold2/test.txt"]
    lock.write_text(json.dumps({"files": files}))
    with pytest.raises(ValueError, match=r"lock\.json does not record Fold2/test\.txt"):
        fetch("mq2008")
    lock.write_text(recorded)
    shutil.rmtree(home)
    home.mkdir()
    with pytest.raises(ValueError, match=r"has changed: Fold1/train\.txt is missing"):
        fetch("mq2008")


def test_an_empty_folder_is_no_data_set(cache):
    (cache / "mq2008").mkdir(parents=True)
    with pytest.raises(
        ValueError, match=r"lock\.json does not exist; remove the folder and fetch mq2008 again"
    ):
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
    with pytest.raises(ValueError, match="is not a lock file"):
        fetch("mq2008")


def test_mistakes(cache, tmp_path):
    with pytest.raises(ValueError, match="name is 'mq2009': choose one of mslr-web10k"):
        fetch("mq2009")
    for name in ("mq2007", "yahoo-ltrc"):
        with pytest.raises(ValueError, match=f"needs a manual download.*fetch {name} --from FOLDER"):
            fetch(name)
    with pytest.raises(ValueError, match=r"folder .* does not exist"):
        fetch("mq2008", tmp_path / "none")
    with pytest.raises(ValueError, match=r"holds neither MQ2008\.rar nor all of its 15 files"):
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
    assert [dataset["name"] for dataset in json.loads(call(capsys, "fetch", "--json")[1])] == list(CATALOGUE)
    code, out, err = call(capsys, "fetch", "mq2008", "--from", cache / "none")
    assert (code, out) == (1, "") and "does not exist" in err
    assert "--from needs the name" in call(capsys, "fetch", "--from", cache)[2]
