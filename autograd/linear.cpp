// Matrix products with history.
#include "autograd/linear.h"

namespace rondo {
namespace {

void check_linear(const Variable& x, const Variable& weight) {
  check(weight.shape().dimensions() == 2 && x.shape().columns() == weight.shape().columns(),
        "[linear] x [.., I] and W [O, I] need one I: got {} and {}", x.shape(), weight.shape());
}

/// dx += dz W. The first contribution that covers all of x is written directly to its final place.
void add_input_gradient(const InputGradient& dx, const Tensor& dz, const Tensor& weight) {
  if (!dx.wanted()) return;
  const Sink::Sum sum = dx.sum();
  weight_gemm(dz, weight, Transpose::no, sum.before, sum.after);
}

/// The sum of the biases, a vector [outputs]; undefined if there are none.
Tensor sum_of_biases(const std::vector<Variable>& biases, const Variable& weight) {
  const int64_t outputs = weight.shape()[0];
  Tensor total;
  for (const Variable& bias : biases) {
    check(bias.defined() && bias.value().size() == outputs, "[linear] a bias for W {} is [{}], got {}",
          weight.shape(), outputs, bias.shape());
    if (!total.defined()) {
      total = bias.value();
      continue;
    }
    if (total.shares_memory(biases[0].value())) total = clone(total);
    accumulate(bias.value(), total);
  }
  return total;
}

/// Each bias, the inputs from the third one on, gets the column sums of dy, which are computed once.
void add_bias_gradients(const Inputs& in, const Tensor& dy) {
  if (in.size() == 3) return in[2].add_column_sums(dy);
  Tensor sums;
  for (size_t i = 2; i < in.size(); ++i) {
    if (!in[i].wanted()) continue;
    if (!sums.defined()) {
      sums = Tensor({dy.columns()}, dy.device());
      column_sums(dy, sums);
    }
    in[i].add(sums);
  }
}

}  // namespace

Variable linear(const Variable& x, const Variable& weight, const std::vector<Variable>& biases) {
  check_linear(x, weight);
  const int64_t outputs = weight.shape()[0];
  const Tensor y = Tensor::for_products(x.shape().with_columns(outputs), x.value().device());
  weight_gemm(x.value(), weight.value(), Transpose::yes, sum_of_biases(biases, weight), y);
  std::vector<Variable> inputs = {x, weight};
  inputs.insert(inputs.end(), biases.begin(), biases.end());
  return record("linear", y, inputs,
                [x = Saved(x.value()), weight = Saved(weight.value())](const std::vector<Tensor>& gradients,
                                                                       const Inputs& in) {
                  const Tensor& dy = gradients[0];
                  add_input_gradient(in[0], dy, weight.get("linear"));
                  in[1].add_product(dy, x.get("linear"));
                  add_bias_gradients(in, dy);
                });
}

Variable add_linear(Variable z, const Variable& x, const Variable& weight) {
  check_linear(x, weight);
  check(z.value().rows() == x.value().rows() && z.shape().columns() == weight.shape()[0],
        "[add_linear] z {} does not fit x {} times W^T {}", z.shape(), x.shape(), weight.shape());
  const bool in_place = z.value().use_count() == 1 && !z.value().shares_memory(x.value());
  const Tensor y = in_place ? z.value() : Tensor::for_products(z.shape(), z.value().device());
  weight_gemm(x.value(), weight.value(), Transpose::yes, z.value(), y);
  return record("add_linear", y, {z, x, weight},
                [x = Saved(x.value()), weight = Saved(weight.value())](const std::vector<Tensor>& gradients,
                                                                       const Inputs& in) {
                  const Tensor& dy = gradients[0];
                  in[0].add(dy);
                  add_input_gradient(in[1], dy, weight.get("add_linear"));
                  in[2].add_product(dy, x.get("add_linear"));
                });
}

Variable matmul(const Variable& a, const Variable& b) {
  check(a.shape().dimensions() == 2 && b.shape().dimensions() == 2 && a.shape()[1] == b.shape()[0],
        "[matmul] a [M, K] and b [K, N] need one K: got {} and {}", a.shape(), b.shape());
  const Tensor y({a.shape()[0], b.shape()[1]}, a.value().device());
  gemm(a.value(), Transpose::no, b.value(), Transpose::no, false, y);
  return record(
      "matmul", y, {a, b},
      [a = Saved(a.value()), b = Saved(b.value())](const std::vector<Tensor>& gradients, const Inputs& in) {
        if (in[0].wanted()) {
          const Sink::Destination to = in[0].destination();
          gemm(gradients[0], Transpose::no, b.get("matmul"), Transpose::yes, to.accumulate, to.tensor);
        }
        in[1].add_product(a.get("matmul"), gradients[0]);
      });
}

Variable batched_matmul(const Variable& a, const Variable& b, Transpose transpose_b) {
  const bool transposed = transpose_b == Transpose::yes;
  const Shape &left = a.shape(), &right = b.shape();
  check(left.dimensions() == 3 && right.dimensions() == 3 && left[0] == right[0] &&
            left[2] == right[transposed ? 2 : 1],
        "[batched_matmul] a [N, M, K] and b {} need one N and one K: got {} and {}",
        transposed ? "[N, P, K]" : "[N, K, P]", left, right);
  const Tensor y({left[0], left[1], right[transposed ? 1 : 2]}, a.value().device());
  batched_gemm(a.value(), Transpose::no, b.value(), transpose_b, false, y);
  return record("batched_matmul", y, {a, b},
                [=, a = Saved(a.value()), b = Saved(b.value())](const std::vector<Tensor>& gradients,
                                                                const Inputs& in) {
                  const Tensor &dy = gradients[0], &A = a.get("batched_matmul"), &B = b.get("batched_matmul");
                  const auto add = [](const InputGradient& to, const Shape& shape, const Tensor& x,
                                      Transpose transpose_x, const Tensor& z, Transpose transpose_z) {
                    if (!to.wanted()) return;
                    const auto [gradient, accumulate] = to.destination();
                    batched_gemm(x, transpose_x, z, transpose_z, accumulate, gradient.reshaped(shape));
                  };
                  // y = a b: da = dy b^T, db = a^T dy. y = a b^T: da = dy b, db = dy^T a.
                  add(in[0], A.shape(), dy, Transpose::no, B, transposed ? Transpose::no : Transpose::yes);
                  if (transposed)
                    add(in[1], B.shape(), dy, Transpose::yes, A, Transpose::no);
                  else
                    add(in[1], B.shape(), A, Transpose::yes, dy, Transpose::no);
                });
}

Variable per_row_matmul(const Variable& matrices, const Variable& x) {
  const int64_t B = x.value().rows(), I = x.shape().columns();
  check(I > 0 && matrices.value().rows() == B && matrices.shape().columns() % I == 0,
        "[per_row_matmul] matrices {} do not fit vectors {}", matrices.shape(), x.shape());
  const int64_t O = matrices.shape().columns() / I;
  const auto row = [](const Tensor& t, int64_t b) { return t.slice_rows(b, b + 1); };
  const auto matrix = [row, O, I](const Tensor& t, int64_t b) { return row(t, b).reshaped({O, I}); };
  const Tensor y(x.shape().with_columns(O), x.value().device());
  for (int64_t b = 0; b < B; ++b)
    gemm(row(x.value(), b), Transpose::no, matrix(matrices.value(), b), Transpose::yes, false, row(y, b));
  return record("per_row_matmul", y, {matrices, x},
                [=, A = Saved(matrices.value()), x = Saved(x.value())](const std::vector<Tensor>& gradients,
                                                                       const Inputs& in) {
                  const Tensor &dy = gradients[0], &A_value = A.get("per_row_matmul"),
                               &x_value = x.get("per_row_matmul");
                  if (in[0].wanted()) {
                    const Sink::Destination to = in[0].destination();
                    for (int64_t b = 0; b < B; ++b)
                      gemm(row(dy, b), Transpose::yes, row(x_value, b), Transpose::no, to.accumulate,
                           matrix(to.tensor, b));
                  }
                  if (in[1].wanted()) {
                    const Sink::Destination to = in[1].destination();
                    for (int64_t b = 0; b < B; ++b)
                      gemm(row(dy, b), Transpose::no, matrix(A_value, b), Transpose::no, to.accumulate,
                           row(to.tensor, b));
                  }
                });
}

}  // namespace rondo
