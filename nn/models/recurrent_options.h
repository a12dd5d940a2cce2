// What the options of models of whole sentences have in common: the recurrent network, with its keys, their
// checks, and the stacks that follow from them. Next: nn/models/encoder_decoder.h,
// nn/models/sentence_classifier.h.
#pragma once

#include <string>

#include "nn/recurrent/recurrent_stack.h"

namespace rondo {

struct RecurrentOptions {
  std::string cell = "lstm";  // a name that make_cell knows
  int64_t embedding = 100;    // E
  int64_t hidden = 200;       // H of each layer; with both directions H / 2 in each
  bool bidirectional = true;  // the stack that reads a sentence
  double dropout = 0;         // on embeddings, between layers, and before the output (Zaremba et al. 2014)
  bool variational = false;   // the same masks at all steps (Gal & Ghahramani 2016)
  RecurrentRegularization regularization{};
  CellSettings cell_settings{};  // of the cell's family
  InitialValues embedding_init = default_of_embeddings;
  bool trained_initial_states = false;  // h0 and c0 of layers that read (Cooijmans et al. 2016)
  double init_all = 0;  // half width of a uniform for all parameters; 0: PyTorch's initial values
};
/// Its keys but for `bidirectional`; after those of the widths, `of_model`, the keys of a model.
Keys recurrent_keys(RecurrentOptions& options, const Keys& of_model);
/// InputError if the options contradict each other. It does not check the limits of single keys.
void check_recurrent(const RecurrentOptions& options);

/// A stack of `layers` layers of width H, the first of which reads `input` numbers a step; if it is
/// bidirectional, H / 2 in each direction. The last `context` of these numbers are a flow of their own
/// (CellOptions).
StackOptions stack_options(const RecurrentOptions& options, int64_t layers, int64_t input, bool bidirectional,
                           int64_t context = 0);

}  // namespace rondo
