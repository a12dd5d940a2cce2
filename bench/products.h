// The products of recurrent weights, packed and by BLAS.
#pragma once

namespace rondo {

/// Prints GFLOP/s of a step's product, forward and backward, per width and number of rows: with the packed
/// weight, and by cblas_sgemm, with the weight as it is or transposed, whichever is faster.
void print_products();

}  // namespace rondo
