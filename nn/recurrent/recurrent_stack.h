// The recurrent stack: layers over a sequence, with dropout between them. A layer is one cell, or several in
// parallel whose outputs are concatenated: a major and a minor one, a forward and a reverse one. The steps of
// a cell: nn/recurrent/recurrent_layer.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/recurrent/recurrent_layer.h"
#include "nn/recurrent/residual_block.h"

namespace rondo {

/// A layer of the stack. With a minor cell it is a Major-Minor layer: the output is [major ; minor], as wide
/// as both together; the major cell reads the previous layer. ("Major-Minor LSTMs for Word-level Language
/// Model".)
struct LayerOptions {
  LayerOptions(const CellOptions& options) : major(options) {}
  LayerOptions(const CellOptions& major_options, const CellOptions& minor_options)
      : major(major_options), minor(minor_options) {}

  CellOptions major;  // the only one if there is no minor
  std::optional<CellOptions> minor;
};

/// What minor cells read: the input of the whole stack (the embedding), or the previous layer.
enum class MinorInput { embedding, previous_layer };
inline std::vector<std::string> names_of(MinorInput) { return {"embedding", "previous_layer"}; }

struct StackOptions {
  std::string cell;  // a name that make_cell knows
  std::vector<LayerOptions> layers;
  MinorInput minor_input = MinorInput::embedding;
  bool bidirectional = false;  // every cell twice, [forward ; reverse]; a layer is twice as wide
  double dropout = 0;          // between layers
  bool variational = false;    // the same mask at all steps of a chunk (Gal & Ghahramani 2016)
  RecurrentRegularization regularization{};
  /// Residual blocks: all layers read and write `input_size` numbers, whatever the width of the cell, and a
  /// layer normalisation follows the last. Dropout is of what a block adds, in each of the two sums. Not with
  /// minor cells or both directions.
  BlockOptions block{};
};

class RecurrentStack : public Module {
 public:
  /// Throws Error unless each layer's input size is the width of the previous layer. Parameters are named as
  /// in PyTorch: NAME.weight_ih_l0, of a reverse cell NAME.weight_ih_l0_reverse; of a minor cell
  /// NAME.weight_ih_l0_minor.
  RecurrentStack(Module& parent, std::string name, const StackOptions& options);

  struct Result {
    // [T, B, width of the last layer], or [B, width] of one step; zeros in the padding, where blocks leave
    // any numbers.
    Variable output;
    std::vector<State> states;  // after the last step of each row, one per cell
  };
  /// x [T, B, I]; one state per cell, in the order of cells().
  Result operator()(const LayerInput& x, const std::vector<State>& states, const Lengths& lengths = {});
  std::vector<State> initial_states(int64_t batch) const;

  /// The same, one step at a time: x [B, I] after begin(B), as in RecurrentLayer. Variational dropout between
  /// layers is drawn by begin(), other dropout by each step, with other masks than those of a whole sequence.
  /// Without dropout, the results equal those of a whole sequence: bit for bit if the products of one step
  /// and of all steps use the same algorithm (tensor/products/gemm.h) and no cell adds up rows, otherwise up
  /// to rounding. Throws Error if the stack is bidirectional.
  void begin(int64_t batch);
  Result step(const Variable& x, const std::vector<State>& states, const Lengths& lengths = {});

  /// Layer by layer: major, then minor; of each, forward, then reverse; of a block, its convolution first.
  std::vector<Cell*> cells() const;

 private:
  /// A cell of a layer, and what it reads.
  struct Part {
    std::unique_ptr<RecurrentLayer> layer;
    bool reads_embedding;
  };
  void add_blocks(const StackOptions& options);
  int64_t width(size_t layer) const;
  /// Runs all layers; `between` applies the dropout before layer i, `run` calls one part.
  template <class Between, class Run>
  Result through(const LayerInput& x, const std::vector<State>& states, Between between, Run run) const;

  std::vector<std::vector<Part>> layers_;
  Dropout between_;
  bool bidirectional_;
  std::vector<std::unique_ptr<ResidualBlock>> blocks_;  // one for each layer, or none
  std::unique_ptr<LayerNorm> last_norm_;                // after the last block
  std::vector<Variable> masks_;                         // before each layer, after begin(); undefined: none
};

/// h of the last layer after the last step that each of its cells reads, [B, width], of a stack without minor
/// cells: in both directions [forward ; reverse].
Variable last_h(const std::vector<State>& states, bool bidirectional);

}  // namespace rondo
