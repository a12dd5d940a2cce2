// The recogniser on both devices: a training step with dropout, and evaluation.
#include "nn/models/ctc_model.h"

#include "autograd/functions.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

/// The scores, the losses and all gradients.
std::vector<std::vector<real>> recognised_on(Device device, const std::string& cell) {
  CtcModelOptions options;
  options.cell = cell;
  options.hidden = 6;
  options.layers = 2;
  options.dropout = 0.3;
  CtcModel model(options, 5, 4, 3, device);
  std::vector<real> numbers;
  for (int i = 0; i < 7 * 2 * 5; ++i) numbers.push_back(static_cast<real>(i * 37 % 23) / 11 - 1);
  const Lengths lengths{7, 5};
  std::vector<std::vector<real>> results;
  for (const bool trains : {true, false}) {
    model.set_training(trains);
    fill(model.gradients(), 0);
    model.begin_update({.seed = 3, .update = 1, .slice = {2, 0, 2}});
    const Variable scores = model.scores(Tensor::from(numbers, {7, 2, 5}, device), lengths);
    const Variable nats = ctc_loss(scores, CtcTargets({{1, 2, 2}, {3}}, lengths));
    results.push_back(scores.value().slice_rows(0, 10).to_vector());  // of steps without padding
    results.push_back(nats.value().to_vector());
    sum(nats).backward();
    for (const Segment& segment : model.segments())
      results.push_back(part_of(model.gradients(), segment).to_vector());
  }
  return results;
}

TEST(CtcModelOnGpu, IsTheSameAsOnTheCpu) {
  NEED_GPU();
  for (const char* cell : {"lstm", "mi_lstm"}) {
    const auto on_cpu = recognised_on(Device::cpu, cell), on_gpu = recognised_on(Device::cuda, cell);
    ASSERT_EQ(on_gpu.size(), on_cpu.size());
    for (size_t i = 0; i < on_cpu.size(); ++i)
      expect_same(on_gpu[i], on_cpu[i], fmt::format("{}, number {}", cell, i));
  }
}

}  // namespace
}  // namespace rondo
