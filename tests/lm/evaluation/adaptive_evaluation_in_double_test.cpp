// Dynamic evaluation, the neural cache, and both, against plain loops.
#include "lm/evaluation/adaptive_evaluation.h"

#include "tests/lm/evaluation/plain_adaptation.h"
#include "tests/nn/settings.h"

namespace rondo {
namespace {

constexpr int64_t V = 6;

/// A walk through the symbols that is neither regular nor without pattern.
std::vector<int32_t> walk(size_t symbols, uint64_t random) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < symbols; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    ids.push_back(static_cast<int32_t>(((ids.empty() ? 0 : 2 * ids.back()) + (random >> 33) % 3) % V));
  }
  return ids;
}
const std::vector<int32_t> train_ids = walk(39, 1), text = walk(24, 2);

struct Case {
  std::string name;
  std::function<void(LanguageModelOptions&)> change{};
};
void PrintTo(const Case& it, std::ostream* out) { *out << it.name; }

/// Everything that drops something is on, and must have no effect.
LanguageModelOptions options_of(const Case& it) {
  LanguageModelOptions options;
  set(options, "embedding=3 hidden=[4] dropout=0.5 variational=true");
  options.regularization = {.dropout = 0.4};
  options.embedding_init.range = 1;
  it.change(options);
  return options;
}

/// The form of AWD-LSTM-MoS.
void mixture(LanguageModelOptions& options) {
  set(options, "tied=true experts=3 latent_dropout=0.3 embedding_dropout=0.2");
  options.regularization = {.weight_drop = 0.5};
}

const std::vector<Case> cases = {
    {"lstm", [](auto&) {}},
    {"lstm_tied", [](auto& options) { options.embedding = 4, options.tied = true; }},
    {"rnn", [](auto& options) { options.cell = "rnn"; }},
    {"mgru_tied", [](auto& options) { options.cell = "mgru", options.embedding = 4, options.tied = true; }},
    {"lstm_mixture", mixture},
    {"lstm_adaptive",
     [](auto& options) {
       options.output = OutputKind::adaptive;
       options.adaptive = {.cutoffs = {2, 4}, .divisor = 2};
     }},
    {"mmlstm_mixture",
     [](auto& options) {
       mixture(options);
       options.hidden = {5, 5, 4};
       options.major_ratio = {0.8, 0.8, 0.6};  // 4 and 1, 4 and 1, 2 and 2 units
     }},
};

void expect_near(double actual, double expected, const std::string& what) {
  EXPECT_NEAR(actual, expected, 1e-9 * std::max(1.0, std::abs(expected))) << what;
}

double sum_of(const std::vector<double>& numbers) {
  double total = 0;
  for (const double it : numbers) total += it;
  return total;
}

class AdaptiveEvaluation : public testing::TestWithParam<Case> {
 protected:
  AdaptiveEvaluation() : model(options_of(GetParam()), V, 5), plain(model) { model.set_training(true); }

  /// 38 targets in 3 streams: 12 steps of each, in chunks of 7 and 5.
  GradientStatistics statistics() {
    plain.read_training_text(train_ids, 3, 7);
    return gradient_statistics(model, train_ids, dynamic);
  }

  LanguageModel model;
  PlainAdaptation plain;
  DynamicOptions dynamic{.learning_rate = 0.01,
                         .decay = 0.4,
                         .epsilon = 1e-3,
                         .length = 7,  // not the default
                         .statistics_streams = 3,
                         .style = DynamicStyle::means};
};

TEST_P(AdaptiveEvaluation, StatisticsEqualThoseOfPlainLoops) {
  const std::vector<real> before = model.values().to_vector();
  const GradientStatistics it = statistics();
  EXPECT_EQ(it.batches, 2);
  EXPECT_EQ(it.symbols, 36);
  EXPECT_EQ(it.tensors, std::ssize(model.segments()));
  expect_near(it.mean_rms, plain.mean_rms(), "mean");
  double all = 0;
  for (const Segment& segment : model.segments()) {
    const std::vector<real> rms = part_of(it.rms, segment).to_vector();
    for (size_t i = 0; i < rms.size(); ++i) {
      expect_near(rms[i], plain.rms(segment.name, i), segment.name);
      all += rms[i] * rms[i];
    }
  }
  EXPECT_NEAR(sum_of_squares(it.rms), all, 1e-12) << "pads are zero";
  EXPECT_EQ(model.values().to_vector(), before);
  EXPECT_EQ(sum_of_squares(model.gradients()), 0);
  EXPECT_TRUE(model.training()) << "as it was before";
}

TEST_P(AdaptiveEvaluation, DynamicEqualsPlainLoops) {
  const GradientStatistics it = statistics();
  for (const bool sums : {false, true}) {
    dynamic.style = sums ? DynamicStyle::sums : DynamicStyle::means;
    dynamic.decay = sums ? 1.5 : 0.4;
    const std::vector<real> before = model.values().to_vector();
    const PlainAdaptation::Settings settings{dynamic.learning_rate, dynamic.decay, dynamic.epsilon, 7, sums};
    const auto positions = plain.read(text, &settings);  // 23 targets: chunks of 7, 7, 7 and 2
    double expected = 0, without = 0;
    for (const auto& position : positions) expected -= std::log(position.probability);
    for (const auto& position : plain.read(text)) without -= std::log(position.probability);
    const Evaluation actual = evaluate_adaptively(model, text, {dynamic, &it, {}});
    EXPECT_EQ(actual.symbols, 23);
    expect_near(actual.nats_sum, expected, name_of(dynamic.style));
    EXPECT_GT(std::abs(expected - without), 1e-3) << "the updates do something";
    EXPECT_EQ(model.values().to_vector(), before);
    EXPECT_EQ(sum_of_squares(model.gradients()), 0);
    EXPECT_TRUE(model.training());
  }
  EXPECT_GT(plain.clamped(), 0u) << "some weights go all their way back";
}

TEST_P(AdaptiveEvaluation, CacheEqualsPlainLoops) {
  const std::vector<int32_t> ids = walk(560, 3);  // two chunks, five blocks
  const auto positions = plain.read(ids);
  for (const int64_t window : {1, 7, 300, 5000})
    for (const double theta : {0.0, 0.7, 2000.0})
      for (const double lambda : {0.0, 0.2}) {
        const Evaluation it = evaluate_adaptively(model, ids, {.cache = CacheOptions{window, theta, lambda}});
        expect_near(it.nats_sum,
                    sum_of(PlainAdaptation::nats_with_cache(positions, ids, static_cast<size_t>(window),
                                                            theta, lambda)),
                    fmt::format("window {} theta {} lambda {}", window, theta, lambda));
        if (lambda == 0) {
          EXPECT_EQ(it.nats_sum, evaluate_ids(model, ids, {}).nats_sum);
        }
      }
}

TEST_P(AdaptiveEvaluation, BothTogetherEqualPlainLoops) {
  const GradientStatistics it = statistics();
  const PlainAdaptation::Settings settings{dynamic.learning_rate, dynamic.decay, dynamic.epsilon, 7};
  const auto positions = plain.read(text, &settings);
  const Evaluation actual = evaluate_adaptively(model, text, {dynamic, &it, CacheOptions{9, 0.6, 0.3}});
  expect_near(actual.nats_sum, sum_of(PlainAdaptation::nats_with_cache(positions, text, 9, 0.6, 0.3)),
              "both");
}

TEST_P(AdaptiveEvaluation, PutsTheWeightsBackAfterAnException) {
  const GradientStatistics it = gradient_statistics(model, train_ids, dynamic);
  const std::vector<real> before = model.values().to_vector();
  EXPECT_THROW(evaluate_adaptively(model, text, {dynamic, &it, {}}, {},
                                   [&](int64_t symbols) {
                                     if (symbols < 15) return;
                                     EXPECT_NE(model.values().to_vector(), before);
                                     throw std::runtime_error("enough");
                                   }),
               std::runtime_error);
  EXPECT_EQ(model.values().to_vector(), before);
  EXPECT_TRUE(model.training());
  dynamic.learning_rate = INFINITY;
  EXPECT_THROW(evaluate_adaptively(model, text, {dynamic, &it, {}}), Diverged);
  EXPECT_EQ(model.values().to_vector(), before);
  dynamic.learning_rate = 0;
  dynamic.decay = 0;
  EXPECT_EQ(evaluate_adaptively(model, text, {dynamic, &it, {}}).symbols, 23) << "nothing of it is left";
}

INSTANTIATE_TEST_SUITE_P(Models, AdaptiveEvaluation, testing::ValuesIn(cases),
                         testing::PrintToStringParamName());

TEST(NeuralCache, SeveralSettingsAtOnceEqualPlainLoopsHoweverTheTextIsCut) {
  constexpr int64_t n = 600, H = 3;
  const Tensor states({n, H});
  fill_uniform(states, {.seed = 4}, -1, 1);
  const std::vector<int32_t> ids = walk(n + 1, 8);
  std::vector<PlainAdaptation::Position> positions;
  for (int64_t t = 0; t < n; ++t)
    positions.push_back({0, {states.data() + t * H, states.data() + (t + 1) * H}});
  const std::vector<int64_t> windows{3, 400, 50};
  const std::vector<double> thetas{0, 0.5, 300};
  for (const std::vector<int64_t>& cuts : {std::vector<int64_t>{n}, {1, 4, 5, 5, 200, 0, 129, 256}}) {
    NeuralCache cache(windows, thetas, H);
    std::vector<double> actual;
    int64_t begin = 0;
    for (const int64_t length : cuts) {
      const std::vector<double> some =
          cache.read(states.slice_rows(begin, begin + length),
                     {ids.begin() + begin + 1, ids.begin() + begin + length + 1});
      actual.insert(actual.end(), some.begin(), some.end());
      begin += length;
    }
    ASSERT_EQ(begin, n);
    ASSERT_EQ(actual.size(), n * windows.size() * thetas.size());
    size_t place = 0;
    for (size_t t = 0; t < n; ++t)
      for (const int64_t window : windows)
        for (const double theta : thetas) {
          const double expected = t == 0 ? NeuralCache::empty
                                         : PlainAdaptation::cache_probability(
                                               positions, ids, t, static_cast<size_t>(window), theta);
          ASSERT_NEAR(actual[place++], expected, 1e-9) << t << " " << window << " " << theta;
        }
  }
}

TEST(NeuralCache, MixesWithoutUnderflow) {
  EXPECT_EQ(mixed_nats(3.25, 0.5, 0), 3.25);
  EXPECT_EQ(mixed_nats(3.25, NeuralCache::empty, 0.5), 3.25);
  EXPECT_NEAR(mixed_nats(-std::log(0.2), 0.6, 0.25), -std::log(0.75 * 0.2 + 0.25 * 0.6), 1e-15);
  EXPECT_NEAR(mixed_nats(2000, 0, 0.5), 2000 + std::log(2), 1e-9);
  EXPECT_NEAR(mixed_nats(2000, 0.5, 0.5), -std::log(0.25), 1e-12);
  EXPECT_NEAR(mixed_nats(7, 0.5, 1), std::log(2), 1e-15);
  EXPECT_EQ(mixed_nats(7, 0, 1), INFINITY);
}

TEST(NeuralCache, RefusesAWindowThatDoesNotFit) {
  EXPECT_THROW(NeuralCache({2, 1'000'000'000'000}, {1}, 1000), InputError);
}

}  // namespace
}  // namespace rondo
