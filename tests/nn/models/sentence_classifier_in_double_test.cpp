// The sentence classifier against plain loops written from its equations, its gradients, and padding.
#include "nn/models/sentence_classifier.h"

#include <cmath>

#include "nn/gradient_check.h"
#include "tests/nn/models/plain_stack.h"
#include "tests/temporary_folder.h"

namespace rondo::sentence_classifier_test {
namespace {

constexpr int64_t V = 7, K = 3, E = 3;

SentenceClassifierOptions options_of(Summary summary, bool bidirectional, const std::string& cell = "rnn",
                                     int64_t layers = 2) {
  SentenceClassifierOptions options;
  options.cell = cell;
  options.embedding = E;
  options.hidden = 4;
  options.layers = layers;
  options.bidirectional = bidirectional;
  options.summary = summary;
  options.init_all = 0.8;  // large enough that nothing is nearly linear
  return options;
}

const std::vector<std::vector<int32_t>> sentences = {{1, 4, 2, 5, 6}, {3}, {2, 6, 6}};
const std::vector<int32_t> labels = {2, 0, 1};

Variable loss_of(SentenceClassifier& model, const SentenceInput& input) {
  return model.cross_entropy(model.summary(input), tokens(labels)).total;
}

/// The log probabilities of the classes of one sentence.
Numbers plain_classifier(const SentenceClassifier& model, const std::vector<int32_t>& sentence) {
  const SentenceClassifierOptions& options = model.options();
  const Weights weight{model};
  const std::vector<Numbers> states =
      plain_stack(weight, options, options.layers, plain_embedding(weight, sentence, E));
  const int64_t H = options.bidirectional ? options.hidden / 2 : options.hidden;
  Numbers s;
  for (size_t j = 0; j < static_cast<size_t>(options.hidden); ++j) {
    double sum = 0, largest = states[0][j];
    for (const Numbers& h : states) sum += h[j], largest = std::max(largest, h[j]);
    const bool is_reverse = j >= static_cast<size_t>(H);
    if (options.summary == Summary::mean) s.push_back(sum / static_cast<double>(states.size()));
    if (options.summary == Summary::max) s.push_back(largest);
    if (options.summary == Summary::last) s.push_back(is_reverse ? states.front()[j] : states.back()[j]);
  }
  Numbers logits;
  double total = 0;
  for (int64_t k = 0; k < K; ++k) {
    double z = weight("output.bias", 0, k);
    for (size_t j = 0; j < s.size(); ++j) z += weight("output.weight", k, static_cast<int64_t>(j)) * s[j];
    logits.push_back(z);
    total += std::exp(z);
  }
  for (double& z : logits) z -= std::log(total);
  return logits;
}

const Summary summaries[] = {Summary::last, Summary::mean, Summary::max};

TEST(SentenceClassifier, IsThatOfPlainLoops) {
  for (const Summary summary : summaries)
    for (const bool bidirectional : {false, true}) {
      SentenceClassifier model(options_of(summary, bidirectional), V, K);
      const Variable s = model.summary(batch_of(sentences, 5, 0));
      const std::vector<real> logits = model.logits(s).value().to_vector();
      const std::vector<real> nats = model.cross_entropy(s, tokens(labels)).each.to_vector();
      for (size_t b = 0; b < sentences.size(); ++b) {
        const Numbers expected = plain_classifier(model, sentences[b]);
        for (size_t k = 1; k < K; ++k)
          EXPECT_NEAR(logits[b * K + k] - logits[b * K], expected[k] - expected[0], 1e-12)
              << name_of(summary);
        EXPECT_NEAR(nats[b], -expected[static_cast<size_t>(labels[b])], 1e-12) << name_of(summary);
      }
    }
}

TEST(SentenceClassifier, GradientsOfAllParameters) {
  std::vector<SentenceClassifierOptions> all = {options_of(Summary::max, true, "lstm", 2),
                                                options_of(Summary::mean, true, "mi_lstm", 1)};
  all[0].trained_initial_states = true;
  for (const Summary summary : summaries)
    for (const bool bidirectional : {false, true})
      all.push_back(options_of(summary, bidirectional, "gru", 1));
  for (SentenceClassifierOptions& options : all) {
    options.embedding = 2;
    SentenceClassifier model(options, V, K);
    const auto input = batch_of(sentences, 5, 0);
    const GradientCheck result = check_gradients(model, [&] { return loss_of(model, input); });
    EXPECT_TRUE(result.passed) << name_of(options.summary) << " " << options.cell << ": " << result.worst;
  }
}

// In the loss and in all gradients, while training with masks that are the same for all steps.
TEST(SentenceClassifier, PaddingHasNoInfluence) {
  for (const Summary summary : summaries)
    for (const bool bidirectional : {false, true})
      for (const bool trains : {false, true}) {
        SentenceClassifierOptions options = options_of(summary, bidirectional, "lstm");
        options.dropout = 0.3;
        options.variational = true;
        SentenceClassifier model(options, V, K);
        model.set_training(trains);
        const auto gradients = [&](int64_t steps, int32_t padding) {
          return gradients_and_loss(model, 3,
                                    [&] { return loss_of(model, batch_of(sentences, steps, padding)); });
        };
        const std::vector<real> once = gradients(5, 0), again = gradients(8, 4);
        for (size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(once[i], again[i], 1e-13) << name_of(summary);
      }
}

TEST(SentenceClassifier, SentencesOfABatchDoNotMix) {
  SentenceClassifier model(options_of(Summary::mean, true, "lstm"), V, K);
  const std::vector<real> all = model.summary(batch_of(sentences, 5, 0)).value().to_vector();
  const std::vector<real> alone =
      model.summary({tokens(sentences[2]), std::ssize(sentences[2]), 1}).value().to_vector();
  for (size_t j = 0; j < alone.size(); ++j) EXPECT_NEAR(all[2 * alone.size() + j], alone[j], 1e-13);
}

TEST(SentenceClassifier, RefusesOptionsThatContradictEachOther) {
  SentenceClassifierOptions odd = options_of(Summary::last, true);
  odd.hidden = 5;
  expect_contains(error_of([&] { SentenceClassifier(odd, V, K); }), "model.hidden = 5");
  odd.bidirectional = false;
  EXPECT_EQ(SentenceClassifier(odd, V, K, 1, Device::meta).classes(), K);
  expect_contains(error_of<Error>([&] { SentenceClassifier(odd, V, 1); }), "1 classes");
  SentenceClassifierOptions other = options_of(Summary::last, true, "gru");
  other.regularization.zoneout_memory = 0.1;  // a GRU has no memory c
  expect_contains(error_of([&] { SentenceClassifier(other, V, K); }), "zoneout_memory");
}

}  // namespace
}  // namespace rondo::sentence_classifier_test
