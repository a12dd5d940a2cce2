// The recurrent stack: layers over a sequence, dropout between them. A layer is one cell, or several side by
// side whose outputs are joined: a major and a minor one, a forward and a reverse one. It deliberately knows
// no step: that is nn/recurrent/recurrent_layer.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/recurrent/recurrent_layer.h"

namespace rondo {

/// A layer of the stack. With a minor cell it is a Major-Minor layer: the output is [major ; minor], as wide
/// as both; the major one reads the layer before. ("Major-Minor LSTMs for Word-level Language Model".)
struct LayerOptions {
  LayerOptions(const CellOptions& options) : major(options) {}
  LayerOptions(const CellOptions& major_options, const CellOptions& minor_options)
      : major(major_options), minor(minor_options) {}

  CellOptions major;  // the only one, where there is no minor
  std::optional<CellOptions> minor;
};

/// What minor cells read: what the whole stack does (the embedding), or the layer before.
enum class MinorInput { embedding, previous_layer };
inline std::vector<std::string> names_of(MinorInput) { return {"embedding", "previous_layer"}; }

struct StackOptions {
  std::string cell;  // a name that make_cell knows
  std::vector<LayerOptions> layers;
  MinorInput minor_input = MinorInput::embedding;
  bool bidirectional = false;  // every cell twice, [forward ; reverse]; a layer is twice as wide
  double dropout = 0;          // between layers
  bool variational = false;    // the same mask at all steps of a chunk (Gal & Ghahramani 2016)
  RecurrentRegularization noise{};
};

class RecurrentStack : public Module {
 public:
  /// Each layer's input size must be the width of the one before, or Error is thrown. Parameters are named
  /// like PyTorch's: NAME.weight_ih_l0, of a reverse cell NAME.weight_ih_l0_reverse; of a minor one
  /// NAME.weight_ih_l0_minor.
  RecurrentStack(Module& parent, std::string name, const StackOptions& options);

  struct Result {
    Variable output;  // [T, B, width of the last layer], of one step [B, width]; zeros in the padding
    std::vector<State> states;  // after the last step of each row, one per cell
  };
  /// x [T, B, I]; one state per cell, in the order of cells().
  Result operator()(const Variable& x, const std::vector<State>& states, const Lengths& lengths = {});
  std::vector<State> initial_states(int64_t batch) const;

  /// The same a step at a time, from outside: x [B, I] after begin(B), as RecurrentLayer has it. Variational
  /// dropout between layers is drawn by begin(), other dropout anew by each step, whose masks are others than
  /// those of a whole sequence. Otherwise the numbers are a sequence's bit for bit, where the products of one
  /// step's inputs and of all take the same way (tensor/gemm.h), else up to rounding. Throws Error if the
  /// stack is bidirectional.
  void begin(int64_t batch);
  Result step(const Variable& x, const std::vector<State>& states, const RowMask& valid = {});

  /// Layer by layer: major, minor; of each forward, reverse.
  std::vector<Cell*> cells() const;

 private:
  /// A cell of a layer, and what it reads.
  struct Part {
    std::unique_ptr<RecurrentLayer> layer;
    bool reads_embedding;
  };
  int64_t width(size_t layer) const;
  /// Through all layers; `between` is the dropout before layer i, `run` calls one part.
  template <class Between, class Run>
  Result through(const Variable& x, const std::vector<State>& states, Between between, Run run) const;

  std::vector<std::vector<Part>> layers_;
  Dropout between_;
  bool bidirectional_;
  std::vector<Variable> masks_;  // before each layer, while there are steps; undefined: none
};

}  // namespace rondo
