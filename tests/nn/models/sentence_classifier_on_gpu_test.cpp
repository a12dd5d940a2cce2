// The sentence classifier on both devices: a training step with dropout, and evaluation.
#include "nn/models/sentence_classifier.h"

#include "tests/cuda/device.h"

namespace rondo {
namespace {

/// The loss, the logits and all gradients.
std::vector<std::vector<real>> numbers_on(Device device, Summary summary, bool bidirectional) {
  SentenceClassifierOptions options;
  options.embedding = 5;
  options.hidden = 6;
  options.layers = 2;
  options.bidirectional = bidirectional;
  options.summary = summary;
  options.dropout = 0.3;
  SentenceClassifier model(options, 9, 4, 3, device);
  const SentenceInput input{tokens({1, 5, 8, 2, 6, 8, 3, 7, 0, 4, 8, 0}), 4, 3, {4, 4, 2}};
  const Tokens labels = tokens({3, 0, 2});
  std::vector<std::vector<real>> numbers;
  for (const bool trains : {true, false}) {
    model.set_training(trains);
    fill(model.gradients(), 0);
    model.begin_update({.seed = 3, .update = 1, .slice = {3, 0, 3}});
    const Variable s = model.summary(input);
    numbers.push_back(model.logits(s).value().to_vector());
    const CrossEntropy loss = model.cross_entropy(s, labels);
    numbers.push_back(loss.each.to_vector());
    loss.total.backward();
    for (const Segment& segment : model.segments())
      numbers.push_back(part_of(model.gradients(), segment).to_vector());
  }
  return numbers;
}

TEST(SentenceClassifierOnGpu, IsTheSameAsOnTheCpu) {
  NEED_GPU();
  for (const Summary summary : {Summary::last, Summary::mean, Summary::max})
    for (const bool bidirectional : {false, true}) {
      const auto on_cpu = numbers_on(Device::cpu, summary, bidirectional);
      const auto on_gpu = numbers_on(Device::cuda, summary, bidirectional);
      ASSERT_EQ(on_gpu.size(), on_cpu.size());
      for (size_t i = 0; i < on_cpu.size(); ++i)
        expect_same(on_gpu[i], on_cpu[i], fmt::format("{}, number {}", name_of(summary), i));
    }
}

}  // namespace
}  // namespace rondo
