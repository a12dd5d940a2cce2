// Whole models on both devices.
#pragma once

#include <fmt/format.h>

#include "nn/module.h"
#include "tests/cuda/device.h"
#include "tests/nn/settings.h"

namespace rondo {

using Results = std::vector<std::vector<real>>;

/// Computes with a model on both devices, in training and then in evaluation, and compares what
/// `step(model, results)` adds to the results, all gradients of the loss that it returns, if any (the sum, if
/// it calls backward() itself), and what the model keeps of the batch of B. The gradients may be `apart`.
template <class Model, class Options, class Step, class... Rest>
void expect_same_model(const std::string& name, int64_t B, double apart, const Options& options,
                       const Step& step, Rest... sizes_and_seed) {
  const auto results_on = [&](Device device) {
    Model model(options, sizes_and_seed..., device);
    EXPECT_EQ(model.values().device(), device);
    Results results = {model.values().to_vector()};
    struct Named {
      std::string what;
      std::vector<real> values;
      double apart;
    };
    std::vector<Named> named;  // gradients and buffers
    for (const bool trains : {true, false}) {
      const std::string where = fmt::format("{} {}, ", name, trains ? "in training" : "in evaluation");
      model.set_training(trains);
      fill(model.gradients(), 0);
      model.begin_update({.seed = 3, .update = 1, .slice = {B, 0, B}});
      if (const Variable loss = step(model, results); loss.defined()) loss.backward();
      for (const Segment& segment : model.segments())
        named.push_back({where + "the gradient of " + segment.name,
                         part_of(model.gradients(), segment).to_vector(), apart});
      for (const Buffer* buffer : model.buffers())
        named.push_back({where + buffer->name(), buffer->tensor().to_vector(), tolerance});
    }
    return std::pair(results, named);
  };
  const auto [on_cpu, named_on_cpu] = results_on(Device::cpu);
  const auto [on_gpu, named_on_gpu] = results_on(Device::cuda);
  ASSERT_EQ(on_gpu.size(), on_cpu.size());
  EXPECT_EQ(on_gpu[0], on_cpu[0]) << "initial values";
  for (size_t i = 0; i < on_cpu.size(); ++i)
    expect_same(on_gpu[i], on_cpu[i], fmt::format("{}, result {}", name, i));  // 0: the initial values
  for (size_t i = 0; i < named_on_cpu.size(); ++i)
    expect_same(named_on_gpu[i].values, named_on_cpu[i].values, named_on_cpu[i].what, named_on_cpu[i].apart);
}

}  // namespace rondo
