// Decoding of CTC models against the sum over all paths of tiny sequences, with and without a language model:
// lm/decoding/prefix_search.h.
#include "lm/decoding/prefix_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "data/ngram/kneser_ney.h"
#include "tests/autograd/ctc_paths.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

/// Random frames: their probabilities, and the logarithms with two numbers of padding behind each row.
struct RandomFrames {
  RandomFrames(uint32_t seed, size_t T, size_t V)
      : log_y(T * (V + 2), std::numeric_limits<real>::quiet_NaN()) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> score(-2, 2);
    for (size_t t = 0; t < T; ++t) {
      std::vector<double> frame(V);
      double sum = 0;
      for (double& it : frame) sum += it = std::exp(score(random));
      for (size_t k = 0; k < V; ++k) {
        frame[k] /= sum;
        log_y[t * (V + 2) + k] = static_cast<real>(std::log(frame[k]));
      }
      y.push_back(frame);
    }
  }
  Tensor view() const {
    const auto V = std::ssize(y[0]);
    return Tensor::from(log_y, {std::ssize(y), V + 2}).slice_columns(0, V);
  }
  std::vector<std::vector<double>> y;
  std::vector<real> log_y;
};

/// All labels, best first, by a score that is added to log p.
std::vector<LabelHypothesis> all_labels(const RandomFrames& frames,
                                        const std::function<double(const Labelling&)>& added = nullptr) {
  std::vector<LabelHypothesis> all;
  for (const auto& [labels, probability] : probabilities_by_all_paths(frames.y))
    all.push_back({labels, std::log(probability), std::log(probability) + (added ? added(labels) : 0)});
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.score > b.score; });
  return all;
}

void expect_same(const std::vector<LabelHypothesis>& found, const std::vector<LabelHypothesis>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].labels, expected[i].labels) << i;
    EXPECT_NEAR(found[i].log_p, expected[i].log_p, 1e-5);
    EXPECT_NEAR(found[i].score, expected[i].score, 1e-5);
  }
}

TEST(PrefixSearch, WithAWideBeamFindsAllLabelsAndTheirProbabilities) {
  for (uint32_t seed = 0; seed < 5; ++seed)
    for (const size_t T : {1, 2, 5, 7}) {
      const RandomFrames frames(seed, T, 3);
      const std::vector<LabelHypothesis> expected = all_labels(frames);
      expect_same(prefix_search(frames.view(), 1000), expected);
    }
}

TEST(PrefixSearch, WithANarrowBeamFollowsFewerPaths) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const RandomFrames frames(seed, 6, 4);
    const auto probability = probabilities_by_all_paths(frames.y);
    for (const int64_t beam : {1, 2, 5}) {
      const auto found = prefix_search(frames.view(), beam);
      EXPECT_EQ(std::ssize(found), beam);
      for (const LabelHypothesis& it : found)
        EXPECT_LE(std::exp(it.log_p), probability.at(it.labels) * (1 + 1e-5));
    }
  }
}

TEST(BestPath, MergesRepeatsThenRemovesBlanks) {
  const std::vector<int32_t> path = {0, 1, 1, 0, 1, 2, 2, 0, 0, 3};
  std::vector<real> log_y(path.size() * 4, -5);
  for (size_t t = 0; t < path.size(); ++t) log_y[t * 4 + path[t]] = real(-0.5);
  const LabelHypothesis found = best_path(Tensor::from(log_y, {std::ssize(path), 4}));
  EXPECT_EQ(found.labels, (Labelling{1, 1, 2, 3}));
  EXPECT_EQ(found.log_p, -5);
  EXPECT_EQ(found.score, -5);
}

TEST(PrefixSearch, OfCertainty) {
  const auto found = prefix_search(Tensor::from({-std::numeric_limits<real>::infinity(), 0}, {1, 2}), 5);
  EXPECT_EQ(found[0].labels, (Labelling{1}));
  EXPECT_EQ(found[0].log_p, 0);
}

// ---- With language models.

/// An n-gram model of a text.
struct NgramLanguage {
  NgramLanguage(const std::string& text, Unit unit, int order)
      : vocabulary({.name = "text", .content = text, .sha256 = {}, .notes = {}}, {.unit = unit}),
        model(kneser_ney(vocabulary.encode(text, "text").ids, vocabulary.size(), vocabulary.line_end_id(),
                         order)
                  .model) {}
  /// ln p of the symbols of a line, with its end.
  double log_p(const std::vector<std::string>& symbols) const {
    NgramModel::State context = model.line_start();
    double sum = 0;
    const auto add = [&](int32_t id) {
      const NgramModel::Step step = model.step(context, id);
      sum += step.log_probability;
      context = step.next;
    };
    for (const std::string& it : symbols) add(vocabulary.id(it).value_or(*vocabulary.unknown_id()));
    add(*vocabulary.line_end_id());
    return sum;
  }
  Vocabulary vocabulary;
  NgramModel model;
};

/// EXPECT that a search ranks labels by the sum of their log p and what the model says of `symbols_of` them.
void expect_ranked_by_sum(const NgramLanguage& language, NgramUnit unit,
                          const std::vector<std::string>& labels,
                          const std::function<std::vector<std::string>(const Labelling&)>& symbols_of) {
  const SpeechDecodingOptions options{.ngram_unit = unit, .ngram_weight = 0.7, .insertion_bonus = 1.3};
  const LabelScorer scorer(language.model, language.vocabulary, labels, options);
  for (uint32_t seed = 0; seed < 5; ++seed) {
    const RandomFrames frames(seed, 6, 4);
    const auto added = [&](const Labelling& found) {
      const std::vector<std::string> symbols = symbols_of(found);
      return options.ngram_weight * language.log_p(symbols) +
             options.insertion_bonus * static_cast<double>(symbols.size());
    };
    expect_same(prefix_search(frames.view(), 10000, &scorer), all_labels(frames, added));
  }
}

TEST(PrefixSearch, WithALanguageModelRanksBySum) {
  const std::vector<std::string> letters = {"", "b", "a", "c"}, with_space = {"", " ", "a", "b"};
  expect_ranked_by_sum(NgramLanguage("abba\nab\nba\nabc\n", Unit::characters, 3), NgramUnit::characters,
                       letters, [&](const Labelling& found) {
                         std::vector<std::string> symbols;
                         for (const int32_t label : found) symbols.push_back(letters[label]);
                         return symbols;
                       });
  expect_ranked_by_sum(NgramLanguage("a ab\nab b a\nb b\n", Unit::words, 2), NgramUnit::words, with_space,
                       [&](const Labelling& found) {
                         std::vector<std::string> words(1);
                         for (const int32_t label : found)
                           label == 1 ? words.emplace_back() : words.back() += with_space[label];
                         std::erase(words, "");
                         return words;
                       });
}

TEST(PrefixSearch, RefusesWhatIsNoNumberAndALanguageWithoutSpaces) {
  const Tensor frames = Tensor::from({-1, std::numeric_limits<real>::quiet_NaN()}, {1, 2});
  EXPECT_EQ(any_error_of([&] { prefix_search(frames, 64); }),
            "[prefix search] a probability of frame 0 is not a number");
  EXPECT_EQ(any_error_of([&] { best_path(frames); }), "[best path] a probability of frame 0 is not a number");
  EXPECT_EQ(any_error_of([&] {
              best_path(Tensor({1, 2}, Device::meta));
            }),
            "[best path] probabilities [frames, symbols] on the CPU were expected, got [1, 2] on meta");
  EXPECT_EQ(any_error_of([&] { prefix_search(frames, 0); }),
            "[prefix search] a beam of 1 or more was expected: 0");

  const NgramLanguage language("a b\n", Unit::words, 2);
  EXPECT_EQ(error_of([&] {
              LabelScorer(language.model, language.vocabulary, {"", "a"}, {.ngram_unit = NgramUnit::words});
            }),
            "a language model of words needs a label that is a space");
}

}  // namespace
}  // namespace rondo
