#!/usr/bin/env python3
"""Makes cloze questions from running text, as files that `lm train --recipe attentive-reader` reads.

Usage: python3 docs/cloze.py TEXT OUT [--words 100] [--entities 30]

TEXT is a folder with train.txt, valid.txt and perhaps test.txt; OUT gets training/, validation/ and test/, with a
file NUMBER.question for each question, in the format of the CNN corpus (Hermann et al. 2015). A sentence of an article
is the question, sentences before it are the document, and an entity that occurs in both is replaced by @placeholder.
Entities are runs of capitalised words that also occur in the middle of a sentence of the article. An article begins at
a heading " = Title = ", as WikiText has them. The same text always gives the same questions.
"""
import argparse, pathlib, re

OPENING, CLOSING = "\"([", "\"')].,;:!?"


def random_numbers(seed):
    """The 64-bit Mersenne Twister of Matsumoto & Nishimura, std::mt19937_64 of C++."""
    mask, n = (1 << 64) - 1, 312
    state = [seed]
    for i in range(1, n):
        state.append((6364136223846793005 * (state[-1] ^ state[-1] >> 62) + i) & mask)
    while True:
        for i in range(n):
            x = (state[i] & ~0x7FFFFFFF) | (state[(i + 1) % n] & 0x7FFFFFFF)
            x = state[i] = state[(i + 156) % n] ^ x >> 1 ^ (0xB5026F5AA96619E9 if x & 1 else 0)
            x ^= x >> 29 & 0x5555555555555555
            x ^= x << 17 & 0x71D67FFFEDA60000
            x ^= x << 37 & 0xFFF7EEE000000000
            yield x ^ x >> 43


def words_of(line):
    """The words of a line. The punctuation around them becomes words of its own."""
    words = []
    for word in line.split():
        word = word.decode("latin-1")  # a letter is a byte
        while word != "<unk>" and len(word) > 1 and word[0] in OPENING:
            words.append(word[0])
            word = word[1:]
        stem = word if word == "<unk>" else word[0] + word[1:].rstrip(CLOSING)
        if word == stem + "." and (len(stem) == 1 or "." in stem):
            stem = word  # "J." and "U.S." keep their point
        is_owner = len(stem) > 2 and stem.endswith("'s")
        words += ([stem[:-2], "'s"] if is_owner else [stem]) + list(word[len(stem):])
    return words


def sentences_of(words):
    """A sentence ends at a mark. Brackets that close after it belong to it."""
    sentences, ended = [], True
    for word in words:
        if ended and not (sentences and word in (")", "]")):
            sentences.append([])
        sentences[-1].append(word)
        ended = word in (".", "?", "!") or (ended and word in (")", "]"))
    return sentences


def runs_of(sentence):
    """Runs of capitalised words: begin, end and name."""
    def is_capitalised(i):
        return i < len(sentence) and re.fullmatch(r"[A-Z].*[^.].*", sentence[i], re.S)

    begin = 0
    while begin < len(sentence):
        end = begin
        while is_capitalised(end):
            end += 1
        if end > begin:
            yield begin, end, " ".join(sentence[begin:end])
        begin = end + 1


def first_word(sentence):
    return next((i for i, word in enumerate(sentence) if word not in OPENING), len(sentence))


def mentions_of(sentence, names):
    """The runs that are names. One that begins a sentence may be a name, or a name after a word such as The."""
    for begin, end, name in runs_of(sentence):
        if begin == first_word(sentence) and name not in names:
            begin, name = begin + 1, " ".join(sentence[begin + 1:end])
            if name not in names:
                continue
        yield begin, end, name


def with_markers(sentence, mentions, marker_of):
    words, at = [], 0
    for begin, end, name in mentions:
        words += sentence[at:begin] + [marker_of[name]]
        at = end
    return " ".join(words + sentence[at:])


def question_of(sentences, mentions, entities, number):
    """Document, question and answer: the last sentence asks for an entity of the others. None if it cannot."""
    named = sorted({name for some in mentions[:-1] for _, _, name in some})
    asked = [name for _, _, name in mentions[-1]]
    candidates = [name for name in asked if name in named]
    names = sorted({*named, *asked})
    if len(named) < 2 or not candidates or len(names) > entities:
        return None
    random, order = random_numbers(number), list(range(entities))
    for i in range(entities, 1, -1):
        j = next(random) % i
        order[i - 1], order[j] = order[j], order[i - 1]
    marker_of = {name: f"@entity{i}" for name, i in zip(names, order)}
    answer = candidates[next(random) % len(candidates)]
    document = [with_markers(*it, marker_of) for it in zip(sentences[:-1], mentions)]
    question = with_markers(sentences[-1], mentions[-1], {**marker_of, answer: "@placeholder"})
    return " ".join(document), question, marker_of[answer]


def questions_of(text, most_words, entities):
    """The questions of a text. A document is the sentences before its question, up to so many words."""
    questions = []
    articles = re.split(rb"(?m)^\s*= (?!=).* =\s*$", text)
    for article in articles:
        lines = [line for line in article.split(b"\n") if not re.fullmatch(rb"\s*= .+ =\s*", line)]
        sentences = [it for line in lines for it in sentences_of(words_of(line))]
        names = {name for it in sentences for begin, _, name in runs_of(it) if begin > first_word(it)}
        mentions = [list(mentions_of(it, names)) for it in sentences]
        for asked in range(1, len(sentences)):
            begin = asked
            while begin > 0 and sum(map(len, sentences[begin - 1:asked])) <= most_words:
                begin -= 1
            made = question_of(sentences[begin:asked + 1], mentions[begin:asked + 1], entities, len(questions) + 1)
            questions += [made] if made else []
    return questions


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("text", type=pathlib.Path)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--words", type=int, default=100, help="of a document, at most")
    arguments.add_argument("--entities", type=int, default=30, help="markers are @entity0 to the one below this")
    given = arguments.parse_args()
    for split, folder in (("train", "training"), ("valid", "validation"), ("test", "test")):
        file = given.text / f"{split}.txt"
        if split == "test" and not file.exists():
            continue
        if (given.out / folder).exists():
            arguments.error(f"{given.out / folder}: exists already")
        (given.out / folder).mkdir(parents=True)
        for i, parts in enumerate(questions_of(file.read_bytes(), given.words, given.entities)):
            text = "\n\n".join((f"{file.name}", *parts)) + "\n"
            (given.out / folder / f"{i:07}.question").write_bytes(text.encode("latin-1"))


if __name__ == "__main__":
    main()
