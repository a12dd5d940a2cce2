// What models of sequences have in common.
#include "nn/models/sequence_model.h"

namespace rondo {

Key cell_key(RecurrentOptions& it) {
  return {"cell", &it.cell, one_of(cell_names()), "the recurrent cell: `lm info --cells` says what each is"};
}

Key trained_initial_states_key(RecurrentOptions& it) {
  return {
      "trained_initial_states", &it.trained_initial_states,
      "whether layers begin to read from trained vectors h0 and c0, at first 0, instead of zeros; decoders "
      "begin with what they are given"};
}

void check_recurrent(const RecurrentOptions& options) {
  check_settings(options.cell, options.cell_settings, "model.");
  check_regularization(options.cell, options.regularization);
  check_embeddings(options.embedding_init, options.init_all);
}

StackOptions stack_options(const RecurrentOptions& options, std::vector<LayerOptions> layers) {
  const auto complete = [&](CellOptions& cell) {
    cell.settings = options.cell_settings;
    cell.trained_initial_state = options.trained_initial_states;
  };
  for (LayerOptions& layer : layers) {
    complete(layer.major);
    if (layer.minor) complete(*layer.minor);
  }
  return {.cell = options.cell,
          .layers = std::move(layers),
          .dropout = options.dropout,
          .variational = options.variational,
          .regularization = options.regularization};
}

Keys sentence_keys(SentenceOptions& it, const Keys& of_model) {
  const Keys widths = {
      cell_key(it),
      {"embedding", &it.embedding, any_width(), "units", "width of a symbol's vector"},
      {"hidden", &it.hidden, any_width(), "units",
       "width of each layer; a bidirectional one has half in each direction"},
  };
  const Keys others = {
      {"dropout", &it.dropout, any_rate(), "share of units",
       "dropped from embeddings, between layers and before the output", true},
      {"variational", &it.variational, {}, "", "whether it drops the same units at all steps", true},
      trained_initial_states_key(it),
      {"init_all", &it.init_all, at_least(0),
       "half width of one uniform distribution for every parameter, biases included; 0: PyTorch's initial "
       "values, but for embeddings"},
  };
  return joined({widths, of_model, others, embedding_keys(it.embedding_init), keys_of(it.regularization),
                 keys_of(it.cell_settings)});
}

void check_sentence_options(const SentenceOptions& options) {
  check_recurrent(options);
  check_input(
      !options.bidirectional || options.hidden % 2 == 0,
      "model.hidden = {}: a bidirectional layer has half of it in each direction; give an even number",
      options.hidden);
}

StackOptions stack_options(const SentenceOptions& options, int64_t layers, int64_t input,
                           bool bidirectional) {
  const int64_t units = bidirectional ? options.hidden / 2 : options.hidden;
  std::vector<LayerOptions> all(static_cast<size_t>(layers), pytorch_cell(options.hidden, units));
  all.front() = pytorch_cell(input, units);
  StackOptions stack = stack_options(options, std::move(all));
  stack.bidirectional = bidirectional;
  return stack;
}

LayerInput embedded(const Variable& table, Dropout& dropout, const SentenceInput& sentences) {
  const auto& [ids, T, B, lengths] = sentences;
  const Variable vectors = reshape(embedding(table, ids), {T, B, table.shape().columns()});
  if (dropout.training() && dropout.probability > 0) return dropout(vectors);
  return {vectors, table, ids};
}

RecurrentStack::Result read_sequences(RecurrentStack& stack, const LayerInput& input,
                                      const Lengths& lengths) {
  return stack(input, stack.initial_states(input.x.shape()[1]), lengths);
}

}  // namespace rondo
