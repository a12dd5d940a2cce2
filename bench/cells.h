// The cell that the benchmark measures and Rondo does not have yet.
#pragma once

#include "nn/cells/lstm.h"

namespace rondo {

/// Makes the cell below known, as lstm_weight_drop. Once.
void add_bench_cells();

/// LSTM whose recurrent weights lose half of their elements, others in each update, the same at all its
/// steps: the LSTM of AWD-LSTM. Merity et al. 2018 (DropConnect, Wan et al. 2013).
struct LstmWeightDrop : Lstm {
  LstmWeightDrop(Module& parent, const std::string& suffix, const CellOptions& options);
};

}  // namespace rondo
