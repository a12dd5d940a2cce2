// The functions that mix elements: the gradient check of each, and values that it does not see.
#include "tests/autograd/function_cases.h"

namespace rondo {
namespace {

using Variables = std::vector<Variable>;

TEST(Gradient, OfEachFunction) {
  for (const int64_t W : {5, 21})
    for (const FunctionCase& it : function_cases(W)) {
      SCOPED_TRACE(it.name);
      expect_gradients(it.f, samples(it.shapes, it.domain));
    }
}

TEST(Gradient, OverwritesNoPartThatIsHeld) {
  const Variable all = tanh(Variable::leaf(samples({{4, 6}})[0], Tensor::zeros({4, 6})));
  const Variable a = all.slice_columns(0, 3).as_part(), b = all.slice_columns(3, 6).as_part();
  const std::vector<real> before = a.value().to_vector();
  sum(a * b).backward();
  EXPECT_EQ(a.value().to_vector(), before);
}

TEST(ScaleRows, MultipliesEachRowByItsNumber) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(scale_rows(x, Tensor::from({2, 0, -1}, {3})).value().to_vector(),
            (std::vector<real>{2, 4, 0, 0, -5, -6}));
  EXPECT_THROW(scale_rows(x, Tensor::zeros({2})), Error);
}

}  // namespace
}  // namespace rondo
