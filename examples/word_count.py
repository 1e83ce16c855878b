"""Word count over 10,605 snippets of film reviews, with the rating of the texts a word stands in.

Splitting, exploding and grouping run natively; one Python function weighs the words.

    python examples/word_count.py [FOLDER]      FOLDER holds the archives; `make data` fetches them
"""

import tempfile
from collections import defaultdict
from functools import partial
from pathlib import Path

from archives import texts, unpack_reviews

import ambergate as ag
from ambergate import col
from ambergate.tables import format_table

SCHEMA = {"id": "string", "rating": "float64", "text": "string"}


def main() -> None:
    """Print the best and the worst words, and check them against a plain loop."""
    with tempfile.TemporaryDirectory(prefix="words-") as scratch:
        folder = Path(scratch)
        unpack_reviews(folder)
        words = (
            ag.from_iter(partial(texts, folder / "movies.txt"), schema=SCHEMA, name="snippets")
            .select("rating", word=col("text").str.lower().str.split(" "))
            .explode("word")
            .filter(col("word").str.contains("^[a-z]{4,}$"), name="words")
            .group_by("word")
            .agg(times=ag.count(), rating=ag.mean("rating"))
            .filter(col("times") >= 40, name="frequent")
        )
        job = ag.run(
            words.top(8, by="rating").to_table(name="best"),
            words.top(8, by="rating", descending=False).to_table(name="worst"),
            words.to_table(name="all"),
            workers=2,
        )
        for name in ("best", "worst"):
            print(f"the {name} words of film reviews\n{format_table(job.result(name))}\n")

        seen = defaultdict(list)
        for row in texts(folder / "movies.txt"):
            for word in row["text"].lower().split(" "):
                if len(word) >= 4 and word.isascii() and word.isalpha():
                    seen[word].append(row["rating"])
        frequent = {word: ratings for word, ratings in seen.items() if len(ratings) >= 40}
        found = {row["word"]: row for row in job.result("all").to_pylist()}
        assert found.keys() == frequent.keys()
        assert all(found[w]["times"] == len(ratings) for w, ratings in frequent.items())
        assert all(abs(found[w]["rating"] - sum(r) / len(r)) < 1e-9 for w, r in frequent.items())
        print(f"{len(found)} frequent words, as counted by hand")


if __name__ == "__main__":
    main()
