// Weight drop.
#include "bench/cells.h"

#include "autograd/functions.h"

namespace rondo {
LstmWeightDrop::LstmWeightDrop(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Lstm(parent, suffix, cell_options) {
  constexpr double probability = 0.5;
  U.transform = [this](const Variable& trained) {
    return training() ? dropout(trained, probability, next_key(), BatchSlice{}) : trained;
  };
}

void add_bench_cells() { add_cell<LstmWeightDrop>("lstm_weight_drop"); }

}  // namespace rondo
