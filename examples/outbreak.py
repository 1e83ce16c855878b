"""Amber's disease-outbreak workflow: what people write about health, joined with the news.

4,200 tweets are searched for words of illness and health, joined with 5,190 news snippets that hold
the same word, classified by a small topic model, and counted. (The texts have no dates, so the join
is by the word found.) The topic model is a naive Bayes classifier trained on reviews of films and
of products and on news; it runs as an ordinary Python function.

    python examples/outbreak.py [FOLDER]      FOLDER holds the archives; `make data` fetches them
"""

import math
import re
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow.csv
from archives import texts, unpack_reviews

import ambergate as ag
from ambergate import col
from ambergate.tables import format_table

TERMS = (
    "aids|allergy|cancer|cold|cough|death|diabetes|disease|doctor|drug|epidemic|fever|flu|"
    "headache|health|heart|hospital|hurt|ill|infection|injury|medical|medicine|nurse|pain|"
    "patient|sick|stress|surgery|tired|vaccine|virus|weight"
)
FOUND = rf"\b(?P<term>{TERMS})\b"
SCHEMA = {"id": "string", "rating": "float64", "text": "string"}


def words(text: str) -> list[str]:
    """Lower-case words of three letters or more."""
    return re.findall(r"[a-z]{3,}", text.lower())


class TopicModel:
    """Naive Bayes over words, with add-one smoothing."""

    def __init__(self, examples: dict[str, list[str]]):
        self.counts = {
            topic: Counter(w for t in found for w in words(t)) for topic, found in examples.items()
        }
        self.totals = {topic: sum(count.values()) for topic, count in self.counts.items()}
        self.vocabulary = len(set().union(*self.counts.values()))

    def classify(self, text: str) -> str:
        """The topic under which the words of ``text`` are likeliest."""

        def score(topic: str) -> float:
            count, total = self.counts[topic], self.totals[topic] + self.vocabulary
            return sum(math.log((count[word] + 1) / total) for word in words(text))

        return max(sorted(self.counts), key=score)


def search(path: Path, name: str) -> ag.Stream:
    """The texts of a file that hold one of the terms, with that term."""
    return (
        ag.from_iter(partial(texts, path), schema=SCHEMA, name=name)
        .with_columns(low=col("text").str.lower(), name=f"{name} in lower case")
        .filter(col("low").str.contains(rf"\b(?:{TERMS})\b"), name=f"{name} search")
        .with_columns(term=col("low").str.extract(FOUND), name=f"{name} term")
        .select("id", "text", "term", name=f"{name} hits")
    )


def main() -> None:
    """Run the job on two workers and check it against a plain Python computation."""
    with tempfile.TemporaryDirectory(prefix="outbreak-") as scratch:
        folder = Path(scratch)
        unpack_reviews(folder)
        model = TopicModel(
            {
                "films": [row["text"] for row in texts(folder / "movies.txt")],
                "products": [row["text"] for row in texts(folder / "products.txt")],
                "news": [row["text"] for row in texts(folder / "news.txt")],
            }
        )
        news = search(folder / "news.txt", "news").select("term", news_id="id")
        topics = (
            search(folder / "tweets.txt", "tweets")
            .join(news, on="term", name="join")
            .map(model.classify, columns=["text"], returns={"topic": "string"}, name="classify")
        )
        counted = topics.group_by("term", "topic").agg(pairs=ag.count()).sort("term", "topic")
        target = folder / "pairs.csv"
        job = ag.run(
            counted.to_table(name="counts"),
            topics.select("term", "topic", "id", "news_id").write_csv(str(target)),
            workers=2,
        )
        table = job.result("counts")
        print(format_table(table, rows=100))
        pairs = sum(table["pairs"].to_pylist())
        assert pairs == pyarrow.csv.read_csv(target).num_rows
        assert {(r["term"], r["topic"]): r["pairs"] for r in table.to_pylist()} == by_hand(
            folder, model
        )
        print(f"\n{pairs:,} pairs of a tweet and a news snippet, as counted by hand")


def by_hand(folder: Path, model: TopicModel) -> Counter:
    """The same counts, in one loop."""

    def hits(name: str) -> list[tuple[str, str]]:
        found = (
            (row["text"], re.search(FOUND, row["text"].lower())) for row in texts(folder / name)
        )
        return [(text, match["term"]) for text, match in found if match]

    news = Counter(term for _, term in hits("news.txt"))
    counted: Counter = Counter()
    for text, term in hits("tweets.txt"):
        if news[term]:
            counted[(term, model.classify(text))] += news[term]
    return counted


if __name__ == "__main__":
    main()
