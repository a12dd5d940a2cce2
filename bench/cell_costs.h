// The cost of each cell, all with about the same number of parameters. One recipe, beside PyTorch: bench.cpp.
#pragma once

namespace rondo {

/// Prints a row for each cell of cell_names(): the speed of its training, in `rounds` turns of `seconds`,
/// each next to a turn of the LSTM.
void print_cell_costs(int threads, int rounds, double seconds);

}  // namespace rondo
