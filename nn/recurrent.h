// The recurrent stack: layers of one kind of cell over a sequence. Per layer it computes the input
// projections of all time steps as one product, runs the loop over time, and stacks the outputs; dropout lies
// between layers. It deliberately knows no cell's equations: those are in nn/cells/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/cells/cell.h"
#include "nn/linear.h"

namespace rondo {

class RecurrentStack : public Module {
 public:
  /// Layers as given, each layer's input size the hidden size of the one before. Parameters are named like
  /// PyTorch's: NAME.weight_ih_l0 and so on.
  RecurrentStack(Module& parent, std::string name, const std::string& cell,
                 const std::vector<CellOptions>& layers, double dropout_between);

  struct Result {
    Variable output;            // [T, B, H of the last layer]
    std::vector<State> states;  // after the last step, one per layer; their h are parts of all steps' memory
  };
  /// x [T, B, I]; one state per layer.
  Result operator()(const Variable& x, const std::vector<State>& states);
  std::vector<State> initial_states(int64_t batch) const;

  const std::vector<std::unique_ptr<Cell>>& layers() const { return layers_; }

 private:
  std::vector<std::unique_ptr<Cell>> layers_;
  Dropout between_;
};

}  // namespace rondo
