// The options of the recurrent network of models of whole sentences.
#include "nn/models/recurrent_options.h"

namespace rondo {

Keys recurrent_keys(RecurrentOptions& it, const Keys& of_model) {
  const Keys widths = {
      {"cell", &it.cell, one_of(cell_names()), "", "the recurrent cell: `lm info --cells` says what each is"},
      {"embedding", &it.embedding, any_width(), "units", "width of a symbol's vector"},
      {"hidden", &it.hidden, any_width(), "units",
       "width of each layer; a bidirectional one has half in each direction"},
  };
  const Keys others = {
      {"dropout", &it.dropout, any_rate(), "share of units",
       "dropped from embeddings, between layers and before the output", true},
      {"variational", &it.variational, {}, "", "whether it drops the same units at all steps", true},
      trained_initial_states_key(it.trained_initial_states),
      {"init_all", &it.init_all, at_least(0), "",
       "half width of one uniform distribution for every parameter, biases included; 0: PyTorch's initial "
       "values, but for embeddings"},
  };
  return joined({widths, of_model, others, embedding_keys(it.embedding_init), keys_of(it.regularization),
                 keys_of(it.cell_settings)});
}

void check_recurrent(const RecurrentOptions& options) {
  check_settings(options.cell, options.cell_settings, "model.");
  check_regularization(options.cell, options.regularization);
  check_embeddings(options.embedding_init, options.init_all);
  check_input(
      !options.bidirectional || options.hidden % 2 == 0,
      "model.hidden = {}: a bidirectional layer has half of it in each direction; give an even number",
      options.hidden);
}

StackOptions stack_options(const RecurrentOptions& options, int64_t layers, int64_t input, bool bidirectional,
                           int64_t context) {
  StackOptions stack{.cell = options.cell,
                     .layers = {},
                     .bidirectional = bidirectional,
                     .dropout = options.dropout,
                     .variational = options.variational,
                     .regularization = options.regularization};
  for (int64_t i = 0; i < layers; ++i) {
    CellOptions cell =
        pytorch_cell(i == 0 ? input : options.hidden, bidirectional ? options.hidden / 2 : options.hidden);
    cell.settings = options.cell_settings;
    cell.trained_initial_state = options.trained_initial_states;
    if (i == 0) cell.context = context;
    stack.layers.emplace_back(cell);
  }
  return stack;
}

}  // namespace rondo
