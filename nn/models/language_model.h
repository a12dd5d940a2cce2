// The recurrent language model: embedding, recurrent stack, and output layer with a distribution over the
// next symbol. Texts are in data/, optimizers in optim/, recipes in lm/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/cross_entropy.h"
#include "nn/models/sequence_model.h"
#include "nn/output/adaptive_softmax.h"
#include "nn/output/mixture.h"

namespace rondo {

// --- Options ---
// The options of a recurrent language model, their keys in a recipe's section [model], and the check that
// they are consistent.

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

// --- Model ---

class LanguageModel : public Module {
 public:
  /// Lays the parameters out and draws their initial values (Module::finalize()). Throws InputError if the
  /// options contradict each other or the vocabulary's size.
  LanguageModel(const LanguageModelOptions& options, int64_t vocabulary_size, uint64_t seed = 1,
                Device device = Device::cpu);

  /// Consecutive symbols of B streams, step by step: ids[t * B + b].
  struct Input {
    Tokens ids;
    int64_t steps = 0, streams = 0;  // T, B
    Lengths lengths{};               // steps of each stream that are not padding; empty: all
  };
  /// The output of a chunk's steps, for the loss, for penalties on activations and for a cache.
  struct Output {
    Variable features;         // input of the decoder, [T * B, width]; a mixture's latents, [T * B, K E]
    Variable hidden, dropped;  // of the last recurrent layer, [T, B, H]: before its dropout and after
    Variable prior{};          // log of the experts' probabilities, [T * B, K]; undefined without a mixture

    /// Rows [begin, end) of what the decoder reads.
    Output rows(int64_t begin, int64_t end) const {
      return {features.slice(begin, end), {}, {}, prior.defined() ? prior.slice(begin, end) : Variable()};
    }
  };
  struct Result {
    Output output;
    std::vector<State> states;
  };
  Result forward(const Input& input, const std::vector<State>& states);
  /// Logits of all symbols, [N, V]: their softmax is the distribution. Those of a mixture and of an adaptive
  /// softmax are its log probabilities.
  Variable logits(const Output& output) const;
  /// -log p(target) in nats: the sum and the value of each row, without storing the [N, V] of logits().
  /// Target -1: not scored.
  CrossEntropy cross_entropy(const Output& output, const Tokens& targets) const;
  std::vector<State> initial_states(int64_t batch) const { return recurrent_.initial_states(batch); }

  /// Whether the launches for a chunk of staged ids follow from its size, so that a GPU can replay them: not
  /// where the host takes part, with batch normalisation, which counts rows and steps, and with an adaptive
  /// softmax, which counts the targets of each cluster.
  bool can_be_recorded() const;

  /// The cells of all layers, in the order of RecurrentStack::cells().
  std::vector<Cell*> cells() const { return recurrent_.cells(); }

  /// The options, with one element per layer in each list, and with the cutoffs of an adaptive softmax.
  const LanguageModelOptions& options() const { return options_; }
  int64_t vocabulary_size() const { return vocabulary_size_; }

 private:
  LanguageModelOptions options_;
  int64_t vocabulary_size_;
  std::unique_ptr<Embedding> embedding_;  // null: one-hot
  EmbeddingDropout embedding_dropout_;
  Dropout input_dropout_;
  RecurrentStack recurrent_;
  Dropout output_dropout_;
  std::vector<std::unique_ptr<Linear>> output_layers_;
  std::unique_ptr<Mixture> mixture_;           // null: one softmax
  std::unique_ptr<AdaptiveSoftmax> adaptive_;  // null: the decoder is
  std::unique_ptr<Linear> decoder_;
};

/// Rows [first, first + count) of each state.
std::vector<State> streams_of(const std::vector<State>& states, int64_t first, int64_t count);
/// Copies `from` to rows [first, first + rows of `from`) of each state in `to`.
void copy_states(const std::vector<State>& from, const std::vector<State>& to, int64_t first = 0);

}  // namespace rondo
