// Whole models on both devices.
#pragma once

#include "tests/cuda/device.h"
#include "tests/nn/settings.h"

namespace rondo {

using Results = std::vector<std::vector<real>>;

/// Computes with a model on both devices, in training and then in evaluation, and compares what
/// `step(model, results)` adds to the results, all gradients of the loss that it returns, if any, and what
/// the model keeps of the batch of B. The gradients may be `apart`.
template <class Model, class Options, class Step, class... Rest>
void expect_same_model(const std::string& name, int64_t B, double apart, const Options& options,
                       const Step& step, Rest... sizes_and_seed) {
  const auto results_on = [&](Device device) {
    Model model(options, sizes_and_seed..., device);
    Results results = {model.values().to_vector()}, gradients;
    for (const bool trains : {true, false}) {
      model.set_training(trains);
      fill(model.gradients(), 0);
      model.begin_update({.seed = 3, .update = 1, .slice = {B, 0, B}});
      if (const Variable loss = step(model, results); loss.defined()) loss.backward();
      for (const Segment& segment : model.segments())
        gradients.push_back(part_of(model.gradients(), segment).to_vector());
      for (const Buffer* buffer : model.buffers()) results.push_back(buffer->tensor().to_vector());
    }
    return std::pair(results, gradients);
  };
  const auto [on_cpu, cpu_gradients] = results_on(Device::cpu);
  const auto [on_gpu, gpu_gradients] = results_on(Device::cuda);
  ASSERT_EQ(on_gpu.size(), on_cpu.size());
  EXPECT_EQ(on_gpu[0], on_cpu[0]) << "initial values";
  for (size_t i = 0; i < on_cpu.size(); ++i)
    expect_same(on_gpu[i], on_cpu[i], fmt::format("{}, number {}", name, i));
  for (size_t i = 0; i < cpu_gradients.size(); ++i)
    expect_same(gpu_gradients[i], cpu_gradients[i], fmt::format("{}, gradient {}", name, i), apart);
}

}  // namespace rondo
