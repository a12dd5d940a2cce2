// The sentence classifier.
#include "nn/models/sentence_classifier.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {
namespace {

/// The mean over the first lengths[b] steps of each sentence; the others are zeros.
Variable mean_over_time(const Variable& states, const Lengths& lengths) {
  const int64_t T = states.shape()[0], B = states.shape()[1];
  const Lengths all = lengths.empty() ? Lengths(static_cast<size_t>(B), T) : lengths;
  for (const int64_t steps : all) check(steps > 0, "[classifier] a sentence of no step has no mean");
  return scale_rows(sum_over_first(states), reciprocals(*all.counts(), states.value().device()));
}

}  // namespace

Keys keys_of(SentenceClassifierOptions& it) {
  const Keys of_model = {
      {"layers", &it.layers, between(1, 1000), "layers", "of the recurrent stack"},
      {"bidirectional", &it.bidirectional, "read each sentence in both directions"},
      {"summary", choice(it.summary),
       "what is predicted from: the last state of each direction, the mean of all states, or the maximum of "
       "each unit over time"},
  };
  return sentence_keys(it, of_model);
}

SentenceClassifier::SentenceClassifier(const SentenceClassifierOptions& options, int64_t vocabulary,
                                       int64_t classes, uint64_t seed, Device device)
    : options_(checked(options)),
      embedding_(*this, "embedding", vocabulary, options.embedding, options.embedding_init),
      embedding_dropout_(*this, "embedding_dropout", options.dropout, options.variational),
      recurrent_(*this, "recurrent",
                 stack_options(options, options.layers, options.embedding, options.bidirectional)),
      summary_dropout_(*this, "summary_dropout", options.dropout),
      output_(*this, "output", options.hidden, classes) {
  check(classes >= 2, "[classifier] {} classes: 2 or more are needed", classes);
  finalize(seed, options.init_all, device);
}

Variable SentenceClassifier::summary(const SentenceInput& input) {
  const auto [output, last] =
      read_sequences(recurrent_, embedded(embedding_.weight, embedding_dropout_, input), input.lengths);
  switch (options_.summary) {
    case Summary::mean:
      return summary_dropout_(mean_over_time(output, input.lengths));
    case Summary::max:
      return summary_dropout_(max_over_first(output, input.lengths));
    default:
      return summary_dropout_(last_h(last, options_.bidirectional));
  }
}

}  // namespace rondo
