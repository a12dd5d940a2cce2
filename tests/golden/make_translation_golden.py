"""Golden numbers made with sacreBLEU and with Python's own rules of Unicode; writes translation.json.

    pip install sacrebleu==2.6.0
    python make_translation_golden.py

The committed file was made with sacreBLEU 2.6.0 and Python 3.11 (Unicode 14). The same versions write the same
bytes again.

  white_space    all characters at which str.split() splits
  capitals       the letters of `exact_blocks` that str.lower() changes, each followed by what it becomes
  lower_case     [text, text.lower()]: words in which the rule depends on the neighbours
  tokens         [text, its words by each tokenization: separated by spaces]
  corpora        NAME: {hypotheses, references (a list for each sentence), bleu, chrf}
    bleu         a list of {settings that are not the default, results of the corpus, its line in
                 sacreBLEU's form}; counts before smoothing: [length, length of the nearest reference,
                 matches of orders 1 to 4, totals of orders 1 to 4]
    chrf         the same

This is not a test and no part of the build. Next: the tests that read the file, in the folder above.
"""

import json
import pathlib
import random

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

TOKENIZATIONS = ["13a", "none", "char"]
EXACT_BLOCKS = [(0x00, 0x17F), (0x370, 0x587), (0x1E00, 0x1EFF)]  # those of data/text/unicode.h

TEXTS = [
    "",
    " ",
    "Ein Hund läuft über die Wiese.",
    'He paid 1,000.5 dollars (or 3.14 €), "roughly", he said.',
    "a.b, c,d .5 5. 5.5 ,5 5, ... .,., 1.,2 3,.4 -1 1-2 a-b 7- -",
    "It's the well-known state-of-the-art; isn't it? Yes/no: 50% @home #1 [a] {b} <c> x=y+z*2^3 ~ ` | \\ _ $ !",
    "Tom &amp; Jerry &lt;b&gt; &quot;so&quot; &amp;lt; &nbsp; &amp;quot; R&D",
    "before<skipped>after <skipped> .",
    "„Größe“ — naïve café… Œuvre, Straße. é.5 5.é é,é",
    "a\u00a0b\u2003c\u3000d\te\u0085f\u200bg \x1ch",
    "日本語。テスト, 123.45 円",
    "Привет, мир! Ελλάδα. 😀.😀,",
    "I.B.M. U.S.A., e.g., 10:30 a.m.",
    "2016-17 (2016-2017) 1990s-2000s -- ---",
]
CASES = ["ΟΔΟΣ ΣΟΦΟΣ Σ ΑΣ, ΑΣΑ", "İSTANBUL Iğdır", "STRASSE STRAẞE ÄÖÜ", "ЁЖ ЇЖАК", "ȘȚ ƠƯ ẠỮ Ǎ Ǆ ǅ", "Հայ"]

ENGLISH = [
    "A man in an orange hat is staring at something.",
    "Two dogs run across the green, wet grass!",
    'The woman said: "It costs 1,000.5 euros."',
    "People are walking in front of a well-known café (in Paris).",
    "A girl breaks a stick with a front kick; everybody applauds.",
    "Tom &amp; Jerry don't play the guitar, do they?",
    "In 2016-17, some 50% of the U.S. players weren't there.",
    "The the the man and the dog and the man.",
]
GERMAN = [
    "Ein Mann mit einem orangefarbenen Hut starrt etwas an.",
    "Zwei Hunde rennen über das grüne, nasse Gras!",
    "Die Frau sagte: „Es kostet 1.000,5 Euro.“",
    "Leute gehen vor einem bekannten Café (in Paris) vorbei.",
    "Ein Mädchen zerbricht einen Stock; alle Größen ÄÖÜ applaudieren.",
]


def corrupted(source, sentence):
    words = sentence.split()
    for _ in range(source.randint(0, 3)):
        at = source.randrange(len(words))
        change = source.randrange(4)
        if change == 0 and len(words) > 1:
            del words[at]
        elif change == 1:
            words.insert(at, source.choice(["the", "a", "and", "dog", "."]))
        elif change == 2:
            words[at] = words[at].upper()
        else:
            words[at], words[-1] = words[-1], words[at]
    return " ".join(words)


def corpora():
    source = random.Random(1)

    def pairs(hypotheses, references):
        return hypotheses, [list(of_one) for of_one in zip(*references)]

    english = [corrupted(source, it) for it in ENGLISH]
    german = [corrupted(source, it) for it in GERMAN]
    several = [[corrupted(source, it) for it in ENGLISH] for _ in range(3)]
    return {
        "english": pairs(english, [ENGLISH]),
        "german": pairs(german, [GERMAN]),
        "three references": pairs(english, several),
        "the same": pairs(ENGLISH, [ENGLISH]),
        "no overlap": pairs(["xyz uvw qqq zzz", "vvv"], [["aaa bbb ccc ddd", "eee"]]),
        "one word in common": pairs(["xyz uvw dog zzz yyy"], [["the dog sleeps all day"]]),
        "empty lines": pairs(["", "a dog", " ", "the cat sat on the mat"], [["", "a dog runs", "so", ""]]),
        "nothing but empty lines": pairs(["", ""], [["a dog", ""]]),
        "two words": pairs(["A dog", "Cats"], [["A dog", "Cats"]]),
        "shorter": pairs([" ".join(it.split()[:5]) for it in ENGLISH], [ENGLISH]),
        "longer": pairs([it + " and so on, and so on." for it in ENGLISH], [ENGLISH]),
        "equally near references": pairs(["a b c d", "a b", "xx"], [["a b c d e f", "a", "c"], ["a b", "a b c", "d e f"]]),
        "case": pairs(["ÄPFEL und ΟΔΟΣ ЁЖ Ist Gut ."], [["Äpfel und οδος ёж ist gut ."]]),
        "odd white space": pairs(["a\u00a0b\u2003c  d e\t"], [["a b c\u3000d e"]]),
        "punctuation": pairs(["(Hi) -- \"yes\", 'no'! ( . ..", "!! a."], [["(Hi) — \"yes\", no! ( .", "! a ."]]),
        "tokens of mteval": pairs(TEXTS[2:], [[it.replace("a", "o") for it in TEXTS[2:]]]),
    }


def bleu_of(hypotheses, references, **settings):
    metric = BLEU(force=True, **settings)
    counts = [sum(column) for column in zip(*metric._extract_corpus_statistics(hypotheses, references))]
    it = metric.corpus_score(hypotheses, references)
    return {
        **settings,
        "score": it.score,
        "precisions": it.precisions,
        "brevity_penalty": it.bp,
        "counts": counts,
        "line": it.format(width=2, signature=str(metric.get_signature())),
    }


def chrf_of(hypotheses, references, **settings):
    metric = CHRF(**settings)
    it = metric.corpus_score(hypotheses, references)
    return {**settings, "score": it.score, "line": it.format(width=2, signature=str(metric.get_signature()))}


def figures(hypotheses, references_of_each):
    references = [list(of_all) for of_all in zip(*references_of_each)]
    bleu_settings = [{"tokenize": it} for it in TOKENIZATIONS]
    bleu_settings += [{"tokenize": it, "lowercase": True} for it in TOKENIZATIONS]
    chrf_settings = [{}, {"lowercase": True}]
    return {
        "hypotheses": hypotheses,
        "references": references_of_each,
        "bleu": [bleu_of(hypotheses, references, **settings) for settings in bleu_settings],
        "chrf": [chrf_of(hypotheses, references, **settings) for settings in chrf_settings],
    }


def words_of(text, tokenization):
    return " ".join(BLEU(tokenize=tokenization)._preprocess_segment(text).split())


def main():
    characters = [chr(c) for c in range(0x110000)]
    exact = [chr(c) for first, last in EXACT_BLOCKS for c in range(first, last + 1)]
    golden = {
        "made_with": "sacrebleu " + sacrebleu.__version__,
        "white_space": [ord(c) for c in characters if c.isspace()],
        "exact_blocks": EXACT_BLOCKS,
        "capitals": [c + c.lower() for c in exact if c.lower() != c],
        "lower_case": [[it, it.lower()] for it in CASES],
        "tokens": [[text, *(words_of(text, it) for it in TOKENIZATIONS)] for text in TEXTS],
        "corpora": {name: figures(*corpus) for name, corpus in corpora().items()},
    }
    text = json.dumps(golden, separators=(",", ":"))
    text = text.replace('},"', '},\n"')  # a line for each corpus; in strings a quote follows a backslash
    pathlib.Path(__file__).with_name("translation.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
