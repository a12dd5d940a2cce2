// The kernels of sequence models: entries of the table in tensor/kernels.h, which says what each one
// computes. Only tensor/kernels.cc, which fills the table, includes it. Next: tensor/sequence_kernels.cc.
#pragma once

#include "tensor/kernels.h"

namespace rondo::BACKEND {

void masked_softmax(Extent extent, Operand x, const int32_t* lengths, int64_t rows_a_length, Operand y);
void masked_softmax_backward(Extent extent, Operand y, Operand dy, const int32_t* lengths,
                             int64_t rows_a_length, Operand dx);
void transpose_first_two(Extent extent, Operand from, int64_t first, Operand to);
void normalize_rows(Extent extent, Operand x, real epsilon, Operand y, real* scale);
void normalize_rows_backward(Extent extent, Operand y, const real* scale, Operand dy, Operand dx);

}  // namespace rondo::BACKEND
