// A program whose gradient check decides, for it is linked with the library in double: in float, the layer
// normalisation of short rows is too steep for differences. Exit status 0: the gradients are right.
#include "nn/gradient_check.h"

#include <cstdio>

#include "autograd/functions.h"
#include "nn/recurrent/recurrent_stack.h"
#include "tensor/random.h"

using namespace rondo;

struct Model : Module {
  Model() { finalize(1); }
  RecurrentStack stack{*this, "stack", {.cell = "ln_lstm", .layers = {pytorch_cell(2, 3)}}};
};

int main() {
  Model model;
  const Tensor x({4, 2, 2});
  fill_uniform(x, {.seed = 1}, -1, 1);
  const GradientCheck result = check_gradients(model, [&] {
    const Variable h = model.stack(Variable(x), model.stack.initial_states(2)).output;
    return sum(h * h);
  });
  std::printf("%s: %.1e at %s\n", result.passed ? "good" : "BAD", result.largest_error, result.worst.c_str());
  return result.passed && sizeof(real) == 8 ? 0 : 1;
}
