// The sentence classifier.
#include "nn/models/sentence_classifier.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {
namespace {

SentenceClassifierOptions checked(const SentenceClassifierOptions& options) {
  check_options(options);
  return options;
}

StackOptions stack_options(const SentenceClassifierOptions& options) {
  StackOptions stack{.cell = options.cell,
                     .layers = {},
                     .bidirectional = options.bidirectional,
                     .dropout = options.dropout,
                     .variational = options.variational,
                     .regularization = options.regularization};
  const int64_t in_each_direction = options.bidirectional ? options.hidden / 2 : options.hidden;
  for (int64_t i = 0; i < options.layers; ++i) {
    CellOptions cell = pytorch_cell(i == 0 ? options.embedding : options.hidden, in_each_direction);
    cell.settings = options.cell_settings;
    stack.layers.emplace_back(cell);
  }
  return stack;
}

/// The mean over the first lengths[b] steps of each sentence; the others are zeros.
Variable mean_over_time(const Variable& states, const Lengths& lengths) {
  const int64_t T = states.shape()[0], B = states.shape()[1];
  std::vector<real> shares;
  for (int64_t b = 0; b < B; ++b) {
    const int64_t steps = lengths.empty() ? T : lengths[static_cast<size_t>(b)];
    check(steps > 0, "[classifier] a sentence of no step has no mean");
    shares.push_back(1 / static_cast<real>(steps));
  }
  return scale_rows(sum_over_first(states), Tensor::from(shares, {B}, states.value().device()));
}

}  // namespace

Keys keys_of(SentenceClassifierOptions& it) {
  const Keys of_model = {
      {"cell", &it.cell, one_of(cell_names()), "", "the recurrent cell: `lm info --cells` says what each is"},
      {"embedding", &it.embedding, any_width(), "units", "width of a symbol's vector"},
      {"hidden", &it.hidden, any_width(), "units",
       "width of each layer; a bidirectional one has half in each direction"},
      {"layers", &it.layers, between(1, 1000), "layers", "of the recurrent stack"},
      {"bidirectional", &it.bidirectional, {}, "", "read each sentence in both directions"},
      {"summary",
       choice(it.summary),
       {},
       "",
       "what is predicted from: the last state of each direction, the mean of all states, or the maximum of "
       "each unit over time"},
      {"dropout", &it.dropout, any_rate(), "share of units",
       "dropped from embeddings, between layers and before the output", true},
      {"variational", &it.variational, {}, "", "whether it drops the same units at all steps", true},
      {"init_all", &it.init_all, at_least(0), "",
       "half width of one uniform distribution for every parameter, biases included; 0: PyTorch's initial "
       "values, embeddings in [-0.1, 0.1]"},
  };
  return joined({of_model, keys_of(it.regularization), keys_of(it.cell_settings)});
}

void check_options(const SentenceClassifierOptions& options) {
  check_limits_of(options);
  check_settings(options.cell, options.cell_settings, "model.");
  check_regularization(options.cell, options.regularization);
  check_input(
      !options.bidirectional || options.hidden % 2 == 0,
      "model.hidden = {}: a bidirectional layer has half of it in each direction; give an even number",
      options.hidden);
}

SentenceClassifier::SentenceClassifier(const SentenceClassifierOptions& options, int64_t vocabulary,
                                       int64_t classes, std::optional<uint64_t> seed, Device device)
    : options_(checked(options)),
      embedding_(*this, "embedding", vocabulary, options.embedding, uniform_values(0.1)),
      embedding_dropout_(*this, "embedding_dropout", options.dropout, options.variational),
      recurrent_(*this, "recurrent", stack_options(options)),
      summary_dropout_(*this, "summary_dropout", options.dropout),
      output_(*this, "output", options.hidden, classes) {
  check(classes >= 2, "[classifier] {} classes: 2 or more are needed", classes);
  const Initializer all = uniform_values(options.init_all);
  if (seed)
    finalize(*seed, options.init_all > 0 ? &all : nullptr, device);
  else
    lay_out();
}

Variable SentenceClassifier::summary(const Input& input) {
  const auto& [ids, T, B, lengths] = input;
  const Variable x = embedding_dropout_(reshape(embedding_(ids), {T, B, options_.embedding}));
  const auto states = recurrent_(x, recurrent_.initial_states(B), lengths);
  return summary_dropout_(summarized(options_.summary, states, options_.bidirectional, lengths));
}

Variable summarized(Summary summary, const RecurrentStack::Result& states, bool bidirectional,
                    const Lengths& lengths) {
  switch (summary) {
    case Summary::mean:
      return mean_over_time(states.output, lengths);
    case Summary::max:
      return max_over_first(states.output, lengths);
    default:
      return bidirectional ? concat({states.states.end()[-2].h, states.states.back().h})
                           : Variable(states.states.back().h);
  }
}

}  // namespace rondo
