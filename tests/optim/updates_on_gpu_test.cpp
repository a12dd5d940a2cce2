// What trains a model, on both devices: every update on the list, every optimizer over several steps,
// averages, clipping. A new update or optimizer is compared without an edit here.
#include "optim/updates.h"

#include <algorithm>

#include "optim/averaging.h"
#include "optim/optimizer.h"
#include "optim/step_control.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

constexpr int64_t sizes[] = {1, 255, 256, 1000};

class UpdateOnGpu : public testing::TestWithParam<std::string> {};

TEST_P(UpdateOnGpu, OfFlatBuffers) {
  NEED_GPU();
  const std::string name = GetParam();
  const auto& all = update_operators();
  const PointwiseOperator& op = *std::ranges::find_if(all, [&](const auto& it) { return it.name == name; });
  for (const int64_t size : sizes) {
    const auto inputs = samples(std::vector<Shape>(static_cast<size_t>(op.inputs), {size}), op.domain);
    const auto outputs_on = [&](Device device) {
      std::vector<Tensor> x, y;
      for (const Tensor& it : inputs) x.push_back(it.to(device));
      for (int k = 0; k < op.outputs; ++k) y.push_back(Tensor::zeros({size}, device));
      detail::apply_update(op.name.c_str(), op.example.data(), x, y);
      return y;
    };
    const auto on_cpu = outputs_on(Device::cpu), on_gpu = outputs_on(Device::cuda);
    for (size_t k = 0; k < on_cpu.size(); ++k)
      expect_same(on_gpu[k], on_cpu[k], fmt::format("output {} of {} elements", k, size));
  }
}

std::vector<std::string> updates() {
  std::vector<std::string> names;
  for (const PointwiseOperator& op : update_operators()) names.push_back(op.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Updates, UpdateOnGpu, testing::ValuesIn(updates()),
                         [](const auto& instance) { return instance.param; });

struct Settings {
  std::string name;
  OptimizerOptions options;
};
void PrintTo(const Settings& it, std::ostream* out) { *out << it.name; }
std::vector<Settings> settings() {
  std::vector<Settings> all;
  for (const std::string& name : names_of(OptimizerKind())) {
    const OptimizerKind kind = *value_named<OptimizerKind>(name);
    all.push_back({name, {.kind = kind, .learning_rate = 0.05}});
    all.push_back({name + "_with_decay", {.kind = kind, .learning_rate = 0.05, .weight_decay = 0.01}});
  }
  all.push_back({"adagrad_from_above_zero",
                 {.kind = OptimizerKind::adagrad, .learning_rate = 0.05, .initial_squares = 0.5}});
  all.push_back({"sgd_with_momentum", {.kind = OptimizerKind::sgd, .momentum = 0.9, .weight_decay = 0.01}});
  return all;
}

class OptimizerOnGpu : public testing::TestWithParam<Settings> {};

/// Weights, their optimizer and their average on one device, trained for five steps of clipped gradients.
struct Trained {
  Trained(const OptimizerOptions& options, int64_t size, Device device)
      : values(clone(samples({{size}}, {-1, 1})[0].to(device))),
        gradients(Tensor::zeros({size}, device)),
        optimizer(make_optimizer(options, values, gradients)),
        average(values) {
    for (int step = 0; step < 5; ++step) {
      const Tensor drawn({size});
      fill_uniform(drawn, {.seed = 3, .update = static_cast<uint64_t>(step)}, real(-1), real(1));
      copy(drawn, gradients);
      norms.push_back(static_cast<real>(gradient_norm(gradients)));
      optimizer->step(optimizer->learning_rate(), clipping_factor(norms.back(), 2));
      if (step == 2) average.start();
      if (step > 2) average.update();
    }
  }
  Tensor values, gradients;
  std::unique_ptr<Optimizer> optimizer;
  AveragedWeights average;
  std::vector<real> norms;
};

TEST_P(OptimizerOnGpu, WithClippingAndTheAverageOfItsWeights) {
  NEED_GPU();
  for (const int64_t size : sizes) {
    Trained on_cpu(GetParam().options, size, Device::cpu), on_gpu(GetParam().options, size, Device::cuda);
    expect_same(on_gpu.norms, on_cpu.norms, "norms");
    expect_same(on_gpu.values, on_cpu.values, "values");
    const auto& state = on_cpu.optimizer->state_tensors();
    for (size_t i = 0; i < state.size(); ++i)
      expect_same(on_gpu.optimizer->state_tensors()[i].tensor, state[i].tensor, state[i].name);
    const std::vector<real> before = on_gpu.values.to_vector();
    {
      const AveragedWeights::Scope cpu_average(on_cpu.average), gpu_average(on_gpu.average);
      expect_same(on_gpu.values, on_cpu.values, "the average");
      EXPECT_NE(on_gpu.values.to_vector(), before);
    }
    EXPECT_EQ(on_gpu.values.to_vector(), before) << "after the average was in force";
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, OptimizerOnGpu, testing::ValuesIn(settings()),
                         [](const auto& instance) { return instance.param.name; });

TEST(ClippingOnGpu, ScalesByTheGlobalNorm) {
  NEED_GPU();
  for (const int64_t size : {1, 4095, 4096, 9001}) {  // of blocks of 4096
    const Tensor on_cpu = samples({{size}})[0], on_gpu = clone(on_cpu.to(Device::cuda));
    const double norm = clip_gradient_norm(on_cpu, 1);
    EXPECT_NEAR(clip_gradient_norm(on_gpu, 1), norm, tolerance * std::max(1.0, norm));
    expect_same(on_gpu, on_cpu, "clipped");
  }
  const Tensor not_finite = Tensor::from({1, 2, INFINITY}, {3}, Device::cuda);
  EXPECT_FALSE(std::isfinite(clip_gradient_norm(not_finite, 1)));
  EXPECT_EQ(not_finite.to_vector()[1], 2) << "nothing was scaled";
}

TEST(UpdatesOnGpu, BuffersOnTwoDevicesAreRefused) {
  NEED_GPU();
  const Tensor here = Tensor::zeros({4}), there = Tensor::zeros({4}, Device::cuda);
  EXPECT_THROW(apply_update(SgdUpdate{}, {there, here}, {there}), Error);
}

}  // namespace
}  // namespace rondo
