// What a recurrent language model is built from: its options, their keys in a recipe's section [model], and
// which of them go together. Next: nn/models/language_model.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/recurrent/recurrent_stack.h"

namespace rondo {

/// What the layers between the last recurrent layer and the output do to their sums.
enum class OutputActivation { tanh, identity };
inline std::vector<std::string> names_of(OutputActivation) { return {"tanh", "identity"}; }

struct LanguageModelOptions {
  std::string cell = "lstm";            // a name that make_cell knows
  int64_t embedding = 200;              // E; 0: no table, a symbol is a vector of V - 1 zeros and a 1
  std::vector<int64_t> hidden = {200};  // units of each layer; a single number serves for all `layers`
  int64_t layers = 1;
  // Share of a layer's units that are its major cell's; 1: no minor one. A single number serves for all.
  std::vector<double> major_ratio = {1};
  MinorInput minor_input = MinorInput::embedding;
  bool bidirectional = false;  // refused: a model that reads from left to right knows nothing of what follows
  std::vector<int64_t> output_layers{};  // widths of layers between the last recurrent one and the output
  OutputActivation output_activation = OutputActivation::tanh;
  double dropout = 0;  // on every connection that is not recurrent (Zaremba et al. 2014)
  // In its place: on the embedding, between recurrent layers, on the last one's output.
  std::optional<double> input_dropout{}, hidden_dropout{}, output_dropout{};
  bool variational = false;      // the same masks at all steps of a chunk (Gal & Ghahramani 2016)
  double embedding_dropout = 0;  // share of the symbols whose embedding is zero for a whole chunk (the same)
  RecurrentRegularization noise{};
  // K softmaxes, mixed (Yang et al. 2018). They see K latents as wide as the embedding or, where there is
  // none, as the last layer.
  int64_t experts = 1;
  double latent_dropout = 0;
  bool tied = false;  // output weights are the embedding's; the last width, if one softmax sees it, must be E
  CellSettings cell_settings{};  // of the cell's family
  int64_t max_time_steps = 100;  // of CellOptions

  // Initial values: of the cells' input and recurrent weights, of the output layer, whose bias it leaves
  // alone and which must not be tied, and of the embedding, uniform of this half width.
  InitialValues input_init{}, recurrent_init{}, output_init{};
  double embedding_range = 0.1;
  double init_all = 0;  // half width of a uniform for all parameters instead; forget_bias is still added

  /// Of options layer by layer: units of layer i that are its major cell's.
  int64_t major_units(size_t i) const;
  /// What the output layer, or the mixture before it, sees.
  int64_t last_width() const;
};
Keys keys_of(LanguageModelOptions& options);
/// The same with a number of `hidden` and of `major_ratio` for each layer.
LanguageModelOptions layer_by_layer(LanguageModelOptions options);

/// InputError if the options contradict each other.
void check_options(const LanguageModelOptions& options);

/// Whether training masks anything: what is masked for a whole chunk cannot be read in pieces of it.
bool masks(const LanguageModelOptions& options);

}  // namespace rondo
