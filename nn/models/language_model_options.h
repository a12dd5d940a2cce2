// The options of a recurrent language model, their keys in a recipe's section [model], and the check that
// they are consistent. Next: nn/models/language_model.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/models/sequence_model.h"
#include "nn/output/adaptive_softmax.h"

namespace rondo {

/// The activation of the layers between the last recurrent layer and the output.
enum class OutputActivation { tanh, identity };
inline std::vector<std::string> names_of(OutputActivation) { return {"tanh", "identity"}; }

/// The distribution over the next symbol: of all at once, or of clusters by frequency, for which symbols must
/// be numbered from the most to the least frequent.
enum class OutputKind { softmax, adaptive };
inline std::vector<std::string> names_of(OutputKind) { return {"softmax", "adaptive"}; }

/// An `embedding` of 0 is no table: a symbol is a vector of V - 1 zeros and a 1.
struct LanguageModelOptions : RecurrentOptions {
  std::vector<int64_t> hidden = {200};  // units of each layer; a single number is used for all `layers`
  int64_t layers = 1;
  BlockOptions block{};
  // Share of a layer's units that belong to its major cell; 1: no minor cell. A single number is used for all
  // layers.
  std::vector<double> major_ratio = {1};
  MinorInput minor_input = MinorInput::embedding;
  bool bidirectional = false;  // refused: a left-to-right language model must not read later symbols
  std::vector<int64_t> output_layers{};  // widths of layers between the last recurrent one and the output
  OutputActivation output_activation = OutputActivation::tanh;
  // Override `dropout`: on the embedding, between recurrent layers, on the last one's output.
  std::optional<double> input_dropout{}, hidden_dropout{}, output_dropout{};
  double embedding_dropout = 0;  // share of the symbols whose embedding is zero for a whole chunk (the same)
  // A mixture of K softmaxes (Yang et al. 2018). They read K latents, as wide as the embedding or, without
  // one, as the last layer.
  int64_t experts = 1;
  double latent_dropout = 0;
  OutputKind output = OutputKind::softmax;
  AdaptiveSoftmaxOptions adaptive{};
  bool tied = false;  // output weights are the embedding's; without a mixture the last width must be E
  int64_t max_time_steps = 100;  // of CellOptions

  // Initial values of the cells' input and recurrent weights, and of the output layer's weight, which must
  // not be tied. The output's bias begins at 0 unless output_init is PyTorch's.
  InitialValues input_init{}, recurrent_init{}, output_init{};

  /// For options with one element per layer: the units of layer i's major cell.
  int64_t major_units(size_t i) const;
  /// The input width of the output layer, or of the mixture before it.
  int64_t last_width() const;
};
Keys keys_of(LanguageModelOptions& options);
/// The same options with one element of `hidden` and of `major_ratio` for each layer. InputError if they
/// contradict each other.
LanguageModelOptions layer_by_layer(const LanguageModelOptions& options);
inline void check_options(const LanguageModelOptions& options) { layer_by_layer(options); }

/// Whether training has any dropout or zoneout: a chunk with masks cannot be computed in pieces.
bool masks(const LanguageModelOptions& options);

}  // namespace rondo
