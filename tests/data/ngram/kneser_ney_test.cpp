// Kneser-Ney: data/ngram/kneser_ney.h against plain loops and the published perplexity.
#include "data/ngram/kneser_ney.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "data/text/corpus.h"
#include "tests/data/files.h"
#include "tests/data/ngram/ngram_sums.h"

namespace rondo {
namespace {

using Ids = std::vector<std::int32_t>;
using Gram = std::vector<std::int32_t>;

/// The equations on top of data/ngram/kneser_ney.h, as they stand there: n-grams are lists of ids, -1 is
/// `<s>`, and a sum over symbols is a loop over all of them.
class PlainKneserNey {
 public:
  PlainKneserNey(const Ids& ids, int V, int line_end, int n) : V_(V), n_(n) {
    Gram line{-1};
    for (const std::int32_t id : ids) {
      line.push_back(id);
      for (int length = 1; length <= n && length <= std::ssize(line); ++length)
        c_[Gram(line.end() - length, line.end())] += 1;
      if (id == line_end) line = {-1};
    }
    for (const auto& [gram, count] : c_)
      a_[gram] = std::ssize(gram) == n || gram[0] == -1 ? count : contexts_of(gram);
  }

  /// p(w | h), of the last n - 1 symbols of h.
  double p(int w, Gram h) const {
    if (std::ssize(h) > n_ - 1) h.erase(h.begin(), h.end() - (n_ - 1));
    const double below = h.empty() ? 1.0 / V_ : p(w, Gram(h.begin() + 1, h.end()));
    const int k = static_cast<int>(h.size()) + 1;
    double total = 0, held_back = 0;
    for (int x = 0; x < V_; ++x) {
      total += a(h, x);
      held_back += D(k, a(h, x));
    }
    if (total == 0) return below;
    return (a(h, w) - D(k, a(h, w))) / total + held_back / total * below;
  }

  bool is_estimated(int k) const {
    for (int j = 1; j <= 4; ++j)
      if (n(k, j) == 0) return false;
    return equation(k, 1) > 0 && equation(k, 2) > 0 && equation(k, 3) > 0;
  }

 private:
  double contexts_of(const Gram& gram) const {
    double contexts = 0;
    for (int v = -1; v < V_; ++v) {
      Gram longer{v};
      longer.insert(longer.end(), gram.begin(), gram.end());
      contexts += c_.contains(longer);
    }
    return contexts;
  }
  double a(Gram h, int w) const {
    h.push_back(w);
    const auto found = a_.find(h);
    return found == a_.end() ? 0 : found->second;
  }
  double n(int k, int j) const {
    double grams = 0;
    for (const auto& [gram, count] : a_) grams += std::ssize(gram) == k && count == j;
    return grams;
  }
  double equation(int k, int j) const {
    const double Y = n(k, 1) / (n(k, 1) + 2 * n(k, 2));
    return j - (j + 1) * Y * n(k, j + 1) / n(k, j);
  }
  double D(int k, double count) const {
    const int j = count > 3 ? 3 : static_cast<int>(count);
    if (j == 0) return 0;
    const auto [known, is_new] = D_.try_emplace({k, j});
    if (is_new) known->second = is_estimated(k) ? equation(k, j) : 0.5 * j;
    return known->second;
  }

  int V_, n_;
  std::map<Gram, double> c_, a_;
  mutable std::map<std::pair<int, int>, double> D_;
};

/// Lines of symbols of which some are far more frequent than others; the last symbol but one of V does not
/// occur, the last one ends a line.
Ids random_text(int V, int lines) {
  std::mt19937 random(7);
  Ids ids;
  int before = 0;
  for (int line = 0; line < lines; ++line) {
    for (auto length = random() % 9; length > 0; --length) {
      const double number = static_cast<double>(random() % 10'000) / 10'000;
      before = (2 * before + static_cast<int>((V - 2) * number * number * number)) % (V - 2);
      ids.push_back(before);
    }
    ids.push_back(V - 1);
  }
  return ids;
}

TEST(KneserNey, EqualsPlainLoops) {
  int estimated = 0, fixed = 0;
  for (const auto& [V, lines, order] :
       {std::tuple{8, 12, 3}, {30, 60, 4}, {9, 40, 5}, {6, 9, 1}, {5, 80, 2}}) {
    const Ids ids = random_text(V, lines);
    const KneserNey it = kneser_ney(ids, V, V - 1, order);
    const PlainKneserNey plain(ids, V, V - 1, order);
    ASSERT_EQ(std::ssize(it.discounts), order);
    for (int k = 1; k <= order; ++k) {
      EXPECT_EQ(it.discounts[static_cast<std::size_t>(k - 1)].estimated, plain.is_estimated(k)) << k;
      ++(plain.is_estimated(k) ? estimated : fixed);
    }
    // Along a text it has not seen, with the symbol that does not occur.
    std::mt19937 random(3);
    Gram line{-1}, inside;
    NgramModel::State state = it.model.line_start(), state_inside = it.model.empty_context();
    for (int i = 0; i < 150; ++i) {
      const int w = random() % 3 == 0 ? static_cast<int>(random() % static_cast<unsigned>(V))
                                      : ids[random() % ids.size()];
      const auto step = it.model.step(state, w), step_inside = it.model.step(state_inside, w);
      EXPECT_NEAR(step.log_probability, std::log(plain.p(w, line)), 1e-12);
      EXPECT_NEAR(step_inside.log_probability, std::log(plain.p(w, inside)), 1e-12);
      line.push_back(w);
      inside.push_back(w);
      state = step.next;
      state_inside = step_inside.next;
      if (w != V - 1) continue;
      line = {-1};
      state = it.model.line_start();
    }
    expect_sums_to_one(it.model, 1e-12);
  }
  EXPECT_GE(estimated, 3);
  EXPECT_GE(fixed, 3);
}

TEST(KneserNey, OneLineHasNoEnd) {
  const Ids ids = random_text(6, 30);
  const KneserNey it = kneser_ney(ids, 6, std::nullopt, 3);
  const PlainKneserNey plain(ids, 6, -2, 3);
  const std::vector<double> found = log_probabilities(it.model, ids, std::nullopt);
  ASSERT_EQ(found.size(), ids.size());
  for (std::size_t i = 0; i < 40; ++i) {
    Gram context(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i));
    context.insert(context.begin(), -1);
    EXPECT_NEAR(found[i], std::log(plain.p(ids[i], context)), 1e-12) << i;
  }
}

TEST(KneserNey, TextsOfOneSymbol) {
  const KneserNey it = kneser_ney(Ids{0}, 1, std::nullopt, 5);
  EXPECT_NEAR(it.model.step(it.model.line_start(), 0).log_probability, 0, 1e-12);
  const KneserNey empty_line = kneser_ney(Ids{0}, 2, 0, 5);  // a line's end alone
  expect_sums_to_one(empty_line.model, 1e-12);
}

TEST(KneserNey, RefusesWhatIsNoText) {
  EXPECT_THROW(kneser_ney(Ids{}, 3, std::nullopt, 2), Error);
  EXPECT_THROW(kneser_ney(Ids{0, 3}, 3, std::nullopt, 2), Error);
  EXPECT_THROW(kneser_ney(Ids{0, -1}, 3, std::nullopt, 2), Error);
  EXPECT_THROW(kneser_ney(Ids{0, 1}, 3, std::nullopt, 0), Error);
}

/// Mikolov et al. 2011, "Empirical Evaluation and Combination of Advanced Language Modeling Techniques",
/// Table 1: 141.2 on the test text, by SRILM.
TEST(KneserNey, PennTreebankAsPublished) {
  const auto folder = corpus_folder("ptb");
  if (!has_corpus(folder)) GTEST_SKIP() << folder << " is not there: set RONDO_DATA";
  const CorpusText text = open_corpus(folder, Unit::words);
  const Vocabulary vocabulary(text.train, {Unit::words});
  const TextIds train = encode_text(text.train, vocabulary).ids,
                test = encode_text(*text.test, vocabulary).ids;
  const KneserNey it = kneser_ney(train, vocabulary.size(), vocabulary.line_end_id(), 5);
  for (const auto& discounts : it.discounts) EXPECT_TRUE(discounts.estimated);
  double nats = 0;
  for (const double log_probability : log_probabilities(it.model, test, vocabulary.line_end_id()))
    nats -= log_probability;
  EXPECT_EQ(test.size(), 82'430u);
  EXPECT_NEAR(std::exp(nats / 82'430), 141.2, 0.1);
}

}  // namespace
}  // namespace rondo
