// What models of sequences have in common: the options of their recurrent network, with keys, checks and the
// stacks that follow from them; and their input, the vectors of symbols. Next: nn/models/language_model.h,
// nn/models/sentence_classifier.h, nn/models/encoder_decoder.h.
#pragma once

#include <concepts>
#include <string>

#include "nn/layers/embedding.h"
#include "nn/recurrent/recurrent_stack.h"

namespace rondo {

/// The options that every model has.
struct RecurrentOptions {
  std::string cell = "lstm";  // a name that make_cell knows
  int64_t embedding = 200;    // E
  double dropout = 0;         // on every connection that is not recurrent (Zaremba et al. 2014)
  bool variational = false;   // the same masks at all steps of a chunk (Gal & Ghahramani 2016)
  RecurrentRegularization regularization{};
  CellSettings cell_settings{};  // of the cell's family
  InitialValues embedding_init = default_of_embeddings;
  bool trained_initial_states = false;  // h0 and c0 of layers that read (Cooijmans et al. 2016)
  double init_all = 0;  // half width of a uniform for all parameters instead; forget_bias is still added
};
Key cell_key(RecurrentOptions& options);
Key trained_initial_states_key(RecurrentOptions& options);
/// Throws InputError if the options contradict each other. It does not check the limits of single keys.
void check_recurrent(const RecurrentOptions& options);
/// A stack of layers whose sizes are given, with all else from the options.
StackOptions stack_options(const RecurrentOptions& options, std::vector<LayerOptions> layers);

/// The options that models of whole sentences have in addition.
struct SentenceOptions : RecurrentOptions {
  SentenceOptions() { embedding = 100; }

  int64_t hidden = 200;       // H of each layer; with both directions H / 2 in each
  bool bidirectional = true;  // the stack that reads a sentence
};
/// Its keys but for `bidirectional`; after those of the widths, `of_model`, the keys of a model.
Keys sentence_keys(SentenceOptions& options, const Keys& of_model);
/// Throws InputError if the options contradict each other. It does not check the limits of single keys.
void check_sentence_options(const SentenceOptions& options);
/// The same, and the limits of single keys: of a model without other options that could contradict them.
template <std::derived_from<SentenceOptions> Options>
void check_options(const Options& options) {
  check_limits_of(options);
  check_sentence_options(options);
}
/// A stack of `layers` layers of width H, the first of which reads `input` numbers a step; if it is
/// bidirectional, H / 2 in each direction.
StackOptions stack_options(const SentenceOptions& options, int64_t layers, int64_t input, bool bidirectional);

/// The options of a model, for its constructor. InputErrors of their check_options().
template <class Options>
Options checked(const Options& options) {
  check_options(options);
  return options;
}

/// The symbols of B sentences, step by step: ids[t * B + b].
struct SentenceInput {
  Tokens ids;
  int64_t steps = 0, sentences = 0;  // T, B
  Lengths lengths{};                 // steps of each that are not padding; empty: all
};
/// The vectors of the symbols after dropout, [T, B, E]; if nothing is dropped, with their table.
LayerInput embedded(const Variable& table, Dropout& dropout, const SentenceInput& sentences);
/// h of a stack at all steps, from its initial states.
RecurrentStack::Result read_sequences(RecurrentStack& stack, const LayerInput& input, const Lengths& lengths);

}  // namespace rondo
