// What the cells cost, all at about one number of parameters. What one recipe costs, beside PyTorch:
// bench.cpp.
#pragma once

namespace rondo {

/// Prints a row for each cell of cell_names(): its training, as lm trains, of so many turns of so many
/// seconds, each beside a turn of the LSTM's.
void print_cell_costs(int threads, int rounds, double seconds);

}  // namespace rondo
