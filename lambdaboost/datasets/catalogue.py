"""The public ranking data sets that `fetch` supports, with their addresses and terms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A data set as its owner publishes it.

    Attributes
    ----------
    name : str
        Its name for `fetch`.
    about : str
        A description of one line.
    page : str
        The owner's page, with the terms and the download link.
    terms : str
        The owner's terms in one line.
    archives : tuple of str
        Names of the owner's archives, the outermost first.
    files : tuple of str
        Paths of the data set's files in the archives.
    address : str or None
        Where the first archive can be downloaded without a browser; None if it cannot.
    by_hand : str
        How to download the first archive with a browser.
    size : int or None
        Bytes of the first archive, if known exactly.
    roughly : str
        Its size in words.
    sha256 : str or None
        Published SHA-256 of the first archive; None if none is published.

    """

    name: str
    about: str
    page: str
    terms: str
    archives: tuple[str, ...]
    files: tuple[str, ...]
    by_hand: str
    roughly: str
    address: str | None = None
    size: int | None = None
    sha256: str | None = None


FOLDS = tuple(f"Fold{fold}/{part}.txt" for fold in range(1, 6) for part in ("train", "vali", "test"))

MICROSOFT = "by using it you accept the owner's agreement on the page"
MSLR = "https://www.microsoft.com/en-us/research/project/mslr/"
LETOR = (
    "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/letor-4-0/"
)

# Sizes and hashes of MSLR and Istella: the checksums of TensorFlow Datasets (ranking/mslr_web, ranking/istella), with
# which those of PyTorchLTR agree. Sizes of LETOR and Yahoo: from the owners' pages; no hashes are published.
# OneDrive's direct addresses, which both libraries use, were reported to answer 400 in November 2025
# (tensorflow/datasets #11136); the shares that a browser opens are the ones on Microsoft's page.
CATALOGUE: dict[str, Published] = {
    published.name: published
    for published in (
        Published(
            name="mslr-web10k",
            about="Bing, 10,000 queries, 136 features with clicks, grades 0-4, five folds",
            page=MSLR,
            terms=MICROSOFT,
            archives=("MSLR-WEB10K.zip",),
            files=FOLDS,
            by_hand="download it with a browser from https://1drv.ms/u/s!AtsMfWUz5l8nbOIoJ6Ks0bEMp78",
            roughly="1.23 GB",
            address="https://api.onedrive.com/v1.0/shares/s!AtsMfWUz5l8nbOIoJ6Ks0bEMp78/root/content",
            size=1_234_144_912,
            sha256="2902142ea33f18c59414f654212de5063033b707d5c3939556124b1120d3a0ba",
        ),
        Published(
            name="mslr-web30k",
            about="Bing, over 30,000 queries, 136 features with clicks, grades 0-4, five folds",
            page=MSLR,
            terms=MICROSOFT,
            archives=("MSLR-WEB30K.zip",),
            files=FOLDS,
            by_hand="download it with a browser from https://1drv.ms/u/s!AtsMfWUz5l8nbXGPBlwD1rnFdBY",
            roughly="3.85 GB",
            address="https://api.onedrive.com/v1.0/shares/s!AtsMfWUz5l8nbXGPBlwD1rnFdBY/root/content",
            size=3_849_406_307,
            sha256="08cb7977e1d5cbdeb57a9a2537a0923dbca6d46a76db9a6afc69e043c85341ae",
        ),
        Published(
            name="mq2007",
            about="LETOR 4.0, TREC 2007's million queries, some 1,700 queries, 46 features, grades 0-2, five folds",
            page=LETOR,
            terms=MICROSOFT,
            archives=("MQ2007.rar",),
            files=FOLDS,
            by_hand="download it with a browser from https://1drv.ms/f/s!Aqi9ONgj3OqPaynoZZSZVfHPJd0 and unpack it",
            roughly="about 65 MB",
        ),
        Published(
            name="mq2008",
            about="LETOR 4.0, TREC 2008's million queries, some 800 queries, 46 features, grades 0-2, five folds",
            page=LETOR,
            terms=MICROSOFT,
            archives=("MQ2008.rar",),
            files=FOLDS,
            by_hand="download it with a browser from https://1drv.ms/f/s!Aqi9ONgj3OqPaynoZZSZVfHPJd0 and unpack it",
            roughly="about 15 MB",
        ),
        Published(
            name="yahoo-ltrc",
            about="Yahoo's challenge of 2010 (C14), 29,921 and 6,330 queries, 700 features, grades 0-4, two sets",
            page="https://research.yahoo.com/datasets",
            terms="for research, on Yahoo's own agreement, which you sign when you ask for it",
            archives=("dataset.tgz", "ltrc_yahoo.tar.bz2"),
            files=tuple(f"set{n}.{part}.txt" for n in (1, 2) for part in ("train", "valid", "test")),
            by_hand="ask Yahoo for C14 by the form on its page, and download it with the link that you receive",
            roughly="421 MB",
        ),
        Published(
            name="istella",
            about="Istella's web search, 33,018 queries, 220 features, grades 0-4, one split",
            page="http://quickrank.isti.cnr.it/istella-dataset/",
            terms="NON-COMMERCIAL USE ONLY; by using it you accept the Istella LETOR Licence Agreement on the page",
            archives=("istella-letor.tar.gz",),
            files=("full/train.txt", "full/test.txt"),
            by_hand="download it with a browser from the page",
            roughly="1.29 GB",
            address="http://library.istella.it/dataset/istella-letor.tar.gz",
            size=1_288_401_248,
            sha256="d45899d9a6a0e48afb250aac7ee3dc50e73e263687f15761d754515cd8284e0b",
        ),
    )
}


def published(name: str) -> Published:
    """The data set called `name`; raises ValueError if there is none.

    >>> published("mq2008").roughly
    'about 15 MB'
    """
    if name not in CATALOGUE:
        raise ValueError(f"name is {name!r}: choose one of {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
