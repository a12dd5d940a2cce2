// The three ways to a transcript, on a few steps whose best transcripts are known by hand.
#include <cmath>

#include "lm/decoding/prefix_search.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

Vocabulary letters() {
  Vocabulary vocabulary({.unit = Unit::characters});
  for (const char* symbol : {"\n", " ", "a", "b"}) vocabulary.add(symbol);
  return vocabulary;
}

/// log p of the symbols [blank, " ", a, b], step by step.
Tensor log_of(const std::vector<std::vector<double>>& p) {
  std::vector<real> log_p;
  for (const auto& step : p)
    for (const double it : step) log_p.push_back(static_cast<real>(std::log(it)));
  return Tensor::from(log_p, {std::ssize(p), 4});
}

TEST(SpeechDecoder, SumsOverPathsWithABeam) {
  const Vocabulary vocabulary = letters();
  // The best path is two blanks, 0.5 * 0.5 = 0.25; but "a" has a-, -a and aa: 2 * 0.5 * 0.4 + 0.16 = 0.56.
  const Tensor steps = log_of({{0.5, 0.05, 0.4, 0.05}, {0.5, 0.05, 0.4, 0.05}});
  const SpeechDecoder greedy({}, vocabulary), beam({.beam = 4}, vocabulary);
  EXPECT_EQ(vocabulary.decode(greedy(steps).labels), "");
  EXPECT_EQ(vocabulary.decode(beam(steps).labels), "a");
  EXPECT_NEAR(beam(steps).log_p, std::log(0.56), 1e-6);
  EXPECT_EQ(text_of(greedy.options()), "greedy search");
  EXPECT_EQ(text_of(beam.options()), "a beam of 4");
}

TEST(SpeechDecoder, PrefersWordsOfAnNgramModel) {
  const Vocabulary vocabulary = letters();
  const TemporaryFolder folder;
  // "a" is nine times as probable as "b".
  write_bytes(folder / "letters.arpa", R"(\data\
ngram 1=5

\1-grams:
-99 <s>
-0.30103 </s>
-9 <unk>
-0.3467875 a
-1.30103 b

\end\
)");
  for (const NgramUnit unit : {NgramUnit::words, NgramUnit::characters}) {
    SpeechDecodingOptions options{.beam = 8, .ngram = folder / "letters.arpa", .ngram_unit = unit};
    const Tensor steps = log_of({{0.1, 0.1, 0.3, 0.5}});
    options.ngram_weight = 0;
    EXPECT_EQ(vocabulary.decode(SpeechDecoder(options, vocabulary)(steps).labels), "b") << name_of(unit);
    options.ngram_weight = 1;  // 0.3 * 0.45 is above 0.5 * 0.05
    EXPECT_EQ(vocabulary.decode(SpeechDecoder(options, vocabulary)(steps).labels), "a") << name_of(unit);
    expect_contains(text_of(options), "a beam of 8 with ");
  }
  expect_contains(
      error_of<InputError>([&] { SpeechDecoder({.ngram = folder / "letters.arpa"}, vocabulary); }),
      "set decoding.beam above 1");
}

TEST(SpeechDecoder, RefusesAnNgramModelThatKnowsTooLittle) {
  const TemporaryFolder folder;
  const std::string closed = folder / "closed.arpa";
  write_bytes(closed, "\\data\\\nngram 1=4\n\n\\1-grams:\n-99 <s>\n-0.5 </s>\n-0.5 a\n-0.5 b\n\n\\end\\\n");
  const auto refusal = [&](NgramUnit unit) {
    return error_of<InputError>(
        [&] { SpeechDecoder({.beam = 8, .ngram = closed, .ngram_unit = unit}, letters()); });
  };
  EXPECT_EQ(refusal(NgramUnit::words), closed + ": the language model of words has no <unk>");
  EXPECT_EQ(refusal(NgramUnit::characters),
            closed + ": the language model has no <unk>, and does not know all labels");
}

}  // namespace
}  // namespace rondo
