// The products of recurrent weights, packed and by BLAS.
#pragma once

namespace rondo {

/// Prints GFLOP/s of a step's product, forward and backward, per width and number of rows: over the packed
/// weight, and by cblas_sgemm with the weight as it lies or transposed, whichever is faster.
void print_products();

}  // namespace rondo
