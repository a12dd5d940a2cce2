// Gates that are as good as open or closed, where an exponential or a quotient of sigmoids is no number any
// more: values and gradients are those of plain loops in long double, whose exponents go further.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "autograd/functions.h"
#include "autograd/operators.h"

namespace rondo {
namespace {

using Number = std::complex<long double>;
using Numbers = std::vector<Number>;

Number s(Number x) { return 1.0L / (1.0L + std::exp(-x)); }

/// EXPECT that the operator gives what `plain` does, and the gradients of the first `changing` inputs of a
/// sum of its results.
void expect_plain(const char* name, const std::vector<real>& inputs, size_t changing,
                  const std::function<Numbers(const Numbers&)>& plain) {
  const auto expect_near = [&](real actual, long double expected) {
    const long double tolerance = 1000 * std::numeric_limits<real>::epsilon();
    EXPECT_NEAR(actual, expected, tolerance * std::max(1.0L, std::abs(expected)))
        << name << " of " << testing::PrintToString(inputs);
  };
  std::vector<Variable> x;
  std::vector<Tensor> gradients;
  for (const real input : inputs) {
    gradients.push_back(Tensor::zeros({1, 1}));
    x.push_back(Variable::leaf(Tensor::filled({1, 1}, input), gradients.back()));
  }
  const PointwiseOperator& op = detail::find_operator(name);
  const std::vector<Variable> y = apply(op, op.example.data(), x);
  sum(concat(y)).backward();
  const Numbers given(inputs.begin(), inputs.end()), expected = plain(given);
  for (size_t k = 0; k < y.size(); ++k) expect_near(y[k].value().item(), expected[k].real());
  for (size_t j = 0; j < changing; ++j) {
    constexpr long double step = 1e-30L;  // imaginary: a derivative without a difference
    Numbers moved = given;
    moved[j] += Number(0, step);
    const Numbers result = plain(moved);
    expect_near(gradients[j].item(), std::accumulate(result.begin(), result.end(), Number(0)).imag() / step);
  }
}

constexpr real extremes[] = {-1000, -100, 0.5, 100, 1000};

TEST(ExtremeGates, OfAMinimalLstmShareOne) {
  for (const real f : extremes)
    for (const real i : extremes)
      for (const real n : {real(-1000), real(0.25)})
        expect_plain("minimal_lstm_gates", {f, i, n, 2}, 4, [](const Numbers& x) {
          const Number forget = s(x[0]), input = s(x[1]);
          return Numbers{(forget * x[3] + input * (x[2].real() >= 0 ? x[2] + 0.5L : s(x[2]))) /
                         (forget + input)};
        });
}

// Before its first step an sLSTM has stored nothing, and what it had is no variable.
TEST(ExtremeGates, OfAScalarLstmAreExponentials) {
  for (const real i : extremes)
    for (const real f : extremes)
      for (const bool first : {true, false}) {
        const std::vector<real> inputs = first ? std::vector<real>{i, f, 0.5, -1, 0, 0, 0}
                                               : std::vector<real>{i, f, 0.5, -1, -0.75, 1.5, 0.25};
        expect_plain("scalar_lstm_gates", inputs, first ? 4 : 7, [&](const Numbers& x) {
          const Number kept = std::log(s(x[1])) + x[6];
          const Number largest = first || kept.real() < x[0].real() ? x[0] : kept;
          const Number forget = std::exp(kept - largest), input = std::exp(x[0] - largest);
          const Number c = forget * x[4] + input * std::tanh(x[2]), n = forget * x[5] + input;
          return Numbers{s(x[3]) * c / n, c, n, largest};
        });
      }
}

}  // namespace
}  // namespace rondo
