// The sentence classifier and its gradients against plain loops written from its equations, which read each
// sentence alone, so that padding is seen to change nothing.
#include "nn/models/sentence_classifier.h"

#include "tests/nn/models/plain_model.h"

namespace rondo::sentence_classifier_test {
namespace {

constexpr int64_t V = 7, K = 3;

const std::vector<std::vector<int32_t>> sentences = {{1, 4, 2, 5, 6}, {3}, {2, 6, 6}};
const std::vector<int32_t> labels = {2, 0, 1};

/// The log probabilities of the classes of one sentence.
Vector plain_classifier(const SentenceClassifierOptions& options, const Parameters& parameters,
                        const std::vector<int32_t>& sentence) {
  const PlainModel model(parameters);
  const auto [h, last] =
      model.read({"recurrent", options.cell, options.layers, options.hidden, options.bidirectional},
                 model.rows_of("embedding.weight", sentence, options.embedding));
  Vector s = last.back().h;
  for (size_t j = 0; j < s.size() && options.summary != Summary::last; ++j) {
    Number sum = 0, largest = h[0][j];
    for (const Vector& state : h) {
      sum += state[j];
      if (state[j].real() > largest.real()) largest = state[j];
    }
    s[j] = options.summary == Summary::max ? largest : sum / static_cast<double>(h.size());
  }
  return log_softmax_of(model.product("output.weight", s, "output.bias"));
}

TEST(SentenceClassifier, IsThatOfPlainLoops) {
  for (const std::string cell : {"rnn", "gru", "mi_lstm"})
    for (const Summary summary : {Summary::last, Summary::mean, Summary::max})
      for (const bool bidirectional : {false, true}) {
        SCOPED_TRACE(cell + " " + name_of(summary));
        SentenceClassifierOptions options;  // init_all: large enough that nothing is nearly linear
        set(options, "embedding=3 hidden=4 layers=2 init_all=0.8");
        options.cell = cell;
        options.summary = summary;
        options.bidirectional = bidirectional;
        options.trained_initial_states = cell == "mi_lstm";
        SentenceClassifier model(options, V, K);
        const Variable s = model.summary(batch_of(sentences, 6, 4));
        const CrossEntropy loss = model.cross_entropy(s, tokens(labels));
        const std::vector<real> logits = model.logits(s).value().to_vector(), nats = loss.each.to_vector();
        for (size_t b = 0; b < sentences.size(); ++b) {
          const Vector expected = plain_classifier(options, parameters_of(model), sentences[b]);
          for (size_t k = 1; k < K; ++k)
            EXPECT_NEAR(logits[b * K + k] - logits[b * K], (expected[k] - expected[0]).real(), 1e-12);
          EXPECT_NEAR(nats[b], -expected[static_cast<size_t>(labels[b])].real(), 1e-12);
        }
        expect_plain_loss(model, loss.total, [&](const Parameters& moved) {
          Number sum = 0;
          for (size_t b = 0; b < sentences.size(); ++b)
            sum -= plain_classifier(options, moved, sentences[b])[static_cast<size_t>(labels[b])];
          return sum;
        });
      }
}

}  // namespace
}  // namespace rondo::sentence_classifier_test
