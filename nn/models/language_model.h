// The recurrent language model: symbols to vectors, a recurrent stack, vectors to a distribution over the
// next symbol. It deliberately knows no text (data/), no update (optim/) and no recipe file (lm/).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/cross_entropy.h"
#include "nn/layers/embedding.h"
#include "nn/output/mixture.h"
#include "nn/recurrent/recurrent_stack.h"

namespace rondo {

/// What the layers between the last recurrent layer and the output do to their sums.
enum class OutputActivation { tanh, identity };

struct LanguageModelOptions {
  std::string cell = "lstm";            // a name that make_cell knows
  int64_t embedding = 200;              // E; 0: no table, a symbol is a vector of V - 1 zeros and a 1
  std::vector<int64_t> hidden = {200};  // units of each layer
  std::vector<double> major_ratio{};    // share of them that are its major cell's; 1, or empty: no minor one
  MinorInput minor_input = MinorInput::embedding;
  bool bidirectional = false;  // refused: a model that reads on from the left knows nothing of what follows
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
  int bias_count = 2;  // of each gate: 2, 1 or 0
  double forget_bias = 0;
  int64_t intermediate = 0;           // M of the multiplicative cells; 0: each layer's input
  std::vector<int64_t> transition{};  // inner layers of deep transitions; empty: one, as wide as the layer
  IntegrationStart integration{};
  int64_t statistics_steps = 100;  // of CellOptions

  // Initial values. Where nothing is given, what torch.nn draws for a layer of this size.
  Initializer embedding_weights = uniform_values(0.1);
  std::optional<Initializer> input_weights{};      // of the cells
  std::optional<Initializer> recurrent_weights{};  // of the cells
  std::optional<Initializer> output_weights{};  // of the last layer, whose bias it leaves alone; not if tied
  std::optional<Initializer> every{};  // all parameters, biases included, instead; forget_bias is still added
};

/// InputError if the options contradict each other.
void check_options(const LanguageModelOptions& options);

/// Whether training masks anything: what is masked for a whole chunk cannot be read in pieces of it.
bool masks(const LanguageModelOptions& options);

class LanguageModel : public Module {
 public:
  /// Lays the parameters out and draws them; without a seed it has names, shapes and counts, but no memory
  /// for them. Throws InputError if the options contradict each other.
  LanguageModel(const LanguageModelOptions& options, int64_t vocabulary_size,
                std::optional<uint64_t> seed = 1, Device device = Device::cpu);

  /// Consecutive symbols of B streams, step by step: ids[t * B + b].
  struct Input {
    Tokens ids;
    int64_t steps = 0, streams = 0;  // T, B
    Lengths lengths{};               // steps of each stream that are no padding; empty: all
  };
  /// What the steps of a chunk leave to those that read them: the loss, penalties on activations, a cache.
  struct Output {
    Variable features;         // what the decoder sees, [T * B, width]; a mixture's latents, [T * B, K E]
    Variable hidden, dropped;  // of the last recurrent layer, [T, B, H]: before its dropout and after
    Variable prior{};          // the log of the experts' shares, [T * B, K]; undefined without a mixture

    /// What the decoder sees of rows [begin, end) alone.
    Output rows(int64_t begin, int64_t end) const {
      return {features.slice(begin, end), {}, {}, prior.defined() ? prior.slice(begin, end) : Variable()};
    }
  };
  struct Result {
    Output output;
    std::vector<State> states;
  };
  Result forward(const Input& input, const std::vector<State>& states);
  /// Scores of all symbols, [N, V]: their softmax is the distribution. A mixture's are its log itself.
  Variable logits(const Output& output) const;
  /// -log p(target) in nats: the sum, and of each row, without the [N, V] of logits(). Target -1: not scored.
  CrossEntropy cross_entropy(const Output& output, const Tokens& targets) const;
  std::vector<State> initial_states(int64_t batch) const { return recurrent_.initial_states(batch); }

  /// Of all layers, as RecurrentStack has them.
  std::vector<Cell*> cells() const { return recurrent_.cells(); }

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
  std::unique_ptr<Mixture> mixture_;  // null: one softmax
  std::unique_ptr<Linear> decoder_;
};

/// States without their history: where back-propagation through time is cut.
std::vector<State> detached(const std::vector<State>& states);
/// RowMask [first, first + count) of each.
std::vector<State> streams_of(const std::vector<State>& states, int64_t first, int64_t count);

}  // namespace rondo
