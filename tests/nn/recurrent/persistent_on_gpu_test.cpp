// The persistent kernel gives what the loop gives, forward and backward, in every precision; and the loop
// runs where the kernel cannot.
#include "nn/cells/multiplicative.h"
#include "nn/recurrent/recurrent_stack.h"
#include "tests/cuda/device.h"
#include "tests/nn/parameters.h"

namespace rondo {
namespace {

struct Sizes {
  int64_t T, B, I, H;
};

/// Two layers in both directions, of a cell whose weights are dropped, and their initial states.
struct PersistentStack : Module {
  PersistentStack(const std::string& cell, const Sizes& given, bool persistent_kernel,
                  RecurrentRegularization regularization = {.dropout = 0.2, .weight_drop = 0.3},
                  int64_t minor = 0)
      : sizes(given),
        stack(*this, "rnn",
              {.cell = cell,
               .layers = {layer(given.I, given.H, minor), layer(2 * (given.H + minor), given.H, 0)},
               .bidirectional = true,
               .regularization = regularization,
               .persistent_kernel = persistent_kernel}),
        x(*this, "x", {given.T, given.B, given.I}, uniform_values(1)) {
    finalize(3, nullptr, Device::cuda);
    set_training(true);
  }
  static LayerOptions layer(int64_t I, int64_t H, int64_t minor) {
    const auto cell = [I](int64_t units) {
      CellOptions options = pytorch_cell(I, units);
      options.trained_initial_state = true;
      options.settings.of<IntermediateSettings>().intermediate = 7;
      return options;
    };
    if (minor == 0) return cell(H);
    return {cell(H), cell(minor)};
  }

  struct Trace {
    std::vector<std::vector<real>> values;  // the output, and each state
    int64_t launches = 0;                   // of the forward pass
  };
  /// Gradients, of what is given and of the last states, are added up in gradients().
  Trace run(uint64_t update = 1, const Lengths& lengths = {}) {
    begin_update({.seed = 3, .update = update, .slice = {sizes.B, 0, sizes.B}});
    fill(gradients(), 0);
    Trace trace;
    Variable loss;
    {
      const std::vector<State> initial = stack.initial_states(sizes.B);
      const int64_t before = cuda::launches();
      const RecurrentStack::Result result = stack(x, initial, lengths);
      trace.launches = cuda::launches() - before;
      trace.values.push_back(result.output.value().to_vector());
      loss = sum(square(result.output));
      for (const State& state : result.states) {
        EXPECT_EQ(state.steps, sizes.T);
        for (const State::Named& it : state.tensors()) {
          trace.values.push_back(it.value.value().to_vector());
          loss = loss + sum(tanh(it.value));
        }
      }
    }
    loss.backward();
    return trace;
  }

  Sizes sizes;
  RecurrentStack stack;
  Parameter x;
};

/// Both run on the GPU, with the same exp and tanh: only the order of sums differs.
// In float without perturbation they are apart by less than 1e-5; in one of seven seeds of the perturbation a
// gradient of the RNN is apart by 1.8e-5, since its steps are perturbed one after another.
constexpr double fused_tolerance = sizeof(real) == 8 ? 1e-10 : 3e-5;

void expect_same_run(PersistentStack& fused, PersistentStack& loop, double apart = fused_tolerance,
                     const Lengths& lengths = {}) {
  const PersistentStack::Trace of_fused = fused.run(1, lengths), of_loop = loop.run(1, lengths);
  if (loop.sizes.T > 1) {
    EXPECT_LT(of_fused.launches, of_loop.launches);
  }
  ASSERT_EQ(of_fused.values.size(), of_loop.values.size());
  for (size_t i = 0; i < of_loop.values.size(); ++i)
    expect_same(of_fused.values[i], of_loop.values[i], fmt::format("value {}", i), apart);
  for (const Segment& segment : loop.segments())
    expect_same(gradient_of(fused, segment.name), gradient_of(loop, segment.name), segment.name, apart);
}

class Persistent : public testing::TestWithParam<std::string> {};

// With fewer units than a tile, with more than one block has, with rows of several tiles.
TEST_P(Persistent, IsTheLoop) {
  NEED_GPU();
  for (const Sizes& sizes :
       {Sizes{5, 3, 4, 6}, Sizes{4, 18, 5, 13}, Sizes{2, 33, 3, 53}, Sizes{1, 1, 1, 1}}) {
    PersistentStack fused(GetParam(), sizes, true), loop(GetParam(), sizes, false);
    expect_same_run(fused, loop);
  }
}

TEST_P(Persistent, IsTheLoopInOtherPrecisions) {
  NEED_GPU();
  if (sizeof(real) == 8) GTEST_SKIP() << "products in double are not rounded";
  for (const auto& [precision, apart] : {std::pair{Precision::tf32, 1e-2}, {Precision::bf16, 5e-2}}) {
    const WithPrecision guard(precision);
    const Sizes sizes{4, 18, 5, 21};
    PersistentStack fused(GetParam(), sizes, true), loop(GetParam(), sizes, false);
    expect_same_run(fused, loop, apart);
  }
}

TEST_P(Persistent, RepeatsItself) {
  NEED_GPU();
  const Sizes sizes{4, 5, 4, 13};
  PersistentStack first(GetParam(), sizes, true), second(GetParam(), sizes, true);
  EXPECT_EQ(first.run().values, second.run().values);
  EXPECT_EQ(first.gradients().to_vector(), second.gradients().to_vector());
}

TEST_P(Persistent, InEvaluation) {
  NEED_GPU();
  const Sizes sizes{4, 5, 4, 13};
  PersistentStack fused(GetParam(), sizes, true), loop(GetParam(), sizes, false);
  fused.set_training(false);
  loop.set_training(false);
  const NoGradient guard;
  expect_same(fused.stack(fused.x, fused.stack.initial_states(5)).output.value().to_vector(),
              loop.stack(loop.x, loop.stack.initial_states(5)).output.value().to_vector(), "the output");
}

INSTANTIATE_TEST_SUITE_P(Cells, Persistent,
                         testing::Values("rnn", "lstm", "gru", "mi_rnn", "mi_lstm", "mi_gru", "mrnn",
                                         "mlstm"),
                         [](const auto& instance) { return instance.param; });

TEST(PersistentLayer, MajorAndMinorCells) {
  NEED_GPU();
  const Sizes sizes{4, 5, 4, 9};
  for (const int64_t minor : {4, 33}) {  // 33 need more shared memory than the layer that runs last
    PersistentStack fused("lstm", sizes, true, {}, minor), loop("lstm", sizes, false, {}, minor);
    expect_same_run(fused, loop);
  }
}

TEST(PersistentLayer, TheLoopRunsWhereTheKernelCannot) {
  NEED_GPU();
  const Sizes sizes{4, 5, 4, 6};
  const auto same_launches = [&](const std::string& cell, const RecurrentRegularization& regularization,
                                 const Lengths& lengths = {}) {
    PersistentStack asked(cell, sizes, true, regularization), loop(cell, sizes, false, regularization);
    EXPECT_EQ(asked.run(1, lengths).launches, loop.run(1, lengths).launches) << cell;
  };
  same_launches("sru", {});
  same_launches("lstm", {.zoneout = 0.2});
  same_launches("lstm", {.zoneout_memory = 0.2});
  same_launches("lstm", {}, {4, 3, 4, 4, 2});
}

TEST(PersistentLayer, SaysWhyNot) {
  const auto why = [](const std::string& cell, int64_t H, Precision precision = Precision::fp32,
                      const RecurrentRegularization& regularization = {}) {
    Module root;
    const auto it = make_cell(cell, root, "", pytorch_cell(H, H));
    return why_a_loop(*it, regularization, precision);
  };
  EXPECT_EQ(why("lstm", 200), "");
  EXPECT_EQ(why("sru", 200), "the kernel does not know this cell");
  EXPECT_EQ(why("lstm", 200, Precision::fp32, {.zoneout = 0.1}), "of zoneout");
  if (sizeof(real) == 8) return;
  EXPECT_EQ(why("lstm", 1150, Precision::tf32), "");  // on an H100
  EXPECT_EQ(why("lstm", 1800, Precision::tf32), "its weights exceed the shared memory");
  EXPECT_EQ(why("lstm", 1800, Precision::bf16), "");
}

}  // namespace
}  // namespace rondo
