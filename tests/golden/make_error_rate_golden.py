"""Golden error rates made with the Python package jiwer; writes error_rates.json.

    pip install jiwer
    python make_error_rate_golden.py

Each corpus: pairs of a reference and a hypothesis; of words and of characters the counts of hits,
substitutions, insertions and deletions of the whole corpus, and the rate. Where alignments with as few edits
differ in their counts, jiwer takes any of them, so that tests compare `edits` and `rate`.

This is not a test and no part of the build. Next: tests/lm/evaluation/metrics_test.cpp.
"""

import importlib.metadata
import json
import pathlib
import random

import jiwer

SENTENCES = [
    "the cat sat on the mat",
    "she had your dark suit in greasy wash water all year",
    "don't ask me to carry an oily rag like that",
    "Äpfel und Öl für die Übung",
    "ein zwei drei",
    "a",
    "seven three nine nine zero",
]


def corrupted(source, sentence):
    units = list(sentence)
    for _ in range(source.randint(0, 6)):
        at = source.randrange(len(units) + 1)
        change = source.randrange(4)
        if change == 0 and at < len(units):
            del units[at]
        elif change == 1:
            units.insert(at, source.choice("aeo stö"))
        elif change == 2 and at < len(units):
            units[at] = source.choice("aeo stö")
        elif change == 3 and len(units) > 4:
            at = source.randrange(len(units) - 3)
            units[at:at] = units[at + 1:at + 4]
    return "".join(units)


def figures(output):
    counts = {name: getattr(output, name) for name in ("hits", "substitutions", "insertions", "deletions")}
    counts["edits"] = counts["substitutions"] + counts["insertions"] + counts["deletions"]
    return counts


def corpus(pairs):
    references, hypotheses = [a for a, _ in pairs], [b for _, b in pairs]
    words = jiwer.process_words(references, hypotheses)
    characters = jiwer.process_characters(references, hypotheses)
    return {
        "pairs": pairs,
        "words": figures(words) | {"rate": words.wer},
        "characters": figures(characters) | {"rate": characters.cer},
    }


def main():
    source = random.Random(1)
    many = [[it, corrupted(source, it)] for it in SENTENCES * 4]
    golden = {
        "made_with": "jiwer " + importlib.metadata.version("jiwer"),
        "corpora": {
            "the same": corpus([[it, it] for it in SENTENCES]),
            "corrupted": corpus(many),
            "others' sentences": corpus(list(map(list, zip(SENTENCES, SENTENCES[1:])))),
            "nothing heard": corpus([[it, ""] for it in SENTENCES]),
            "too much heard": corpus([["a b", "x a y b z " * 3], ["a", "b b b"]]),
            "odd white space": corpus([["a  b c", " a b  c "], ["one two", "one  three two"]]),
            "one of each": corpus([["the cat sat down", "a the cat stood"]]),
        },
    }
    path = pathlib.Path(__file__).with_name("error_rates.json")
    path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
