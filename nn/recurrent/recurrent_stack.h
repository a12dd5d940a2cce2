// The recurrent stack: layers over a sequence, with dropout between them. A layer is one cell, or several in
// parallel whose outputs are concatenated: a major and a minor one, a forward and a reverse one. The steps of
// a cell: nn/recurrent/recurrent_layer.h.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/operators/functions.h"
#include "nn/layers/linear.h"
#include "nn/layers/normalization.h"
#include "nn/recurrent/recurrent_layer.h"

namespace rondo {

// --- Residual blocks ---
// A residual block around a cell, as models of linear cells are built of: De et al. 2024, "Griffin", figure
// 2; Beck et al. 2024, "xLSTM", figure 10. LN is layer normalisation; Griffin divides by the
// root mean square instead. The blocks of minGRU's authors (BorealisAI/minRNNs) do so, too, and begin with
// x + convolution(x).
//
//   u = LN(x)           h = cell(convolution(u))        y = x + W_o (gelu(W_g u) h)
//   v = LN(y)           result = y + W_2 (gelu(W_1 v) (W_3 v))
//
// The convolution, W_g and the second line are options; W_o is there if W_g is, or if h and x differ in
// width.

enum class BlockKind { plain, residual };
inline std::vector<std::string> names_of(BlockKind) { return {"plain", "residual"}; }

struct BlockOptions {
  BlockKind kind = BlockKind::plain;
  double expansion = 1;      // width of h, of x
  bool convolution = false;  // nn/cells/real_gated_linear_unit.h
  bool gate = false;         // W_g
  double feed_forward = 0;   // width of W_1, of x; 0: none

  int64_t cell_units(int64_t width) const { return std::llround(static_cast<double>(width) * expansion); }
};
inline Keys keys_of(BlockOptions& it) {
  return {
      {"block", choice(it.kind), "what a recurrent layer is: the cell alone, or a residual block around it"},
      {"expansion", &it.expansion, between(0.01, 100), "units", "of a block's cell, for each of its input"},
      {"convolution", &it.convolution, "whether a block's cell reads a convolution over four steps"},
      {"gate", &it.gate, "whether a block multiplies its cell's output by a gate"},
      {"feed_forward", &it.feed_forward, between(0, 100), "units",
       "of a block's feed-forward layers, for each of its input; 0: it has none"}};
}

struct ResidualBlock : Module {
  ResidualBlock(Module& parent, std::string block_name, int64_t width, const BlockOptions& options)
      : Module(parent, std::move(block_name)), norm(*this, "norm", width) {
    const auto make = [&](const char* linear_name, int64_t in, int64_t out) {
      return std::make_unique<Linear>(*this, linear_name, in, out);
    };
    const int64_t H = options.cell_units(width),
                  F = std::llround(options.feed_forward * static_cast<double>(width));
    if (options.gate) W_g = make("gate", width, H);
    if (options.gate || H != width) W_o = make("out", H, width);
    if (F == 0) return;
    feed_norm = std::make_unique<LayerNorm>(*this, "feed_norm", width);
    W_1 = make("feed_gate", width, F);
    W_3 = make("feed_in", width, F);
    W_2 = make("feed_out", F, width);
  }

  /// x [.., width]; `cell` and `drop` are functions of a Variable, the dropout of what is added to x.
  template <class Run, class Drop>
  Variable operator()(const Variable& x, Run cell, Drop drop) const {
    const Variable u = norm(x);
    Variable h = cell(u);
    if (W_g) h = gated_gelu((*W_g)(u), h);
    const Variable y = x + drop(W_o ? (*W_o)(h) : h);
    if (!feed_norm) return y;
    const Variable v = (*feed_norm)(y);
    return y + drop((*W_2)(gated_gelu((*W_1)(v), (*W_3)(v))));
  }

  LayerNorm norm;
  std::unique_ptr<Linear> W_g, W_o, W_1, W_2, W_3;  // null: left out
  std::unique_ptr<LayerNorm> feed_norm;
};

// --- Stack ---

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
