// The attentive reader on both devices: a training step with dropout, and evaluation.
#include "nn/models/attentive_reader.h"

#include "tests/cuda/device.h"

namespace rondo {
namespace {

/// The attention, the logits, the losses, all gradients, and what is kept of the batch.
std::vector<std::vector<real>> reader_on(Device device, AttentiveReaderOptions options) {
  options.embedding = 5;
  options.hidden = 6;
  options.dropout = 0.3;
  AttentiveReader model(options, 9, 4, 3, device);
  const SentenceInput document{tokens({1, 5, 8, 2, 6, 8, 3, 7, 0, 4, 8, 0}), 4, 3, {4, 4, 2}},
      question{tokens({3, 5, 1, 2, 0, 8}), 2, 3, {2, 1, 2}};
  std::vector<std::vector<real>> numbers;
  for (const bool trains : {true, false}) {
    model.set_training(trains);
    fill(model.gradients(), 0);
    model.begin_update({.seed = 3, .update = 1, .slice = {3, 0, 3}});
    const auto [joint, attention] = model(document, question);
    numbers.push_back(attention.value().to_vector());
    numbers.push_back(model.logits(joint).value().to_vector());
    const CrossEntropy loss = model.cross_entropy(joint, tokens({3, -1, 2}));
    numbers.push_back(loss.each.to_vector());
    loss.total.backward();
    for (const Segment& segment : model.segments())
      numbers.push_back(part_of(model.gradients(), segment).to_vector());
    for (const Buffer* buffer : model.buffers()) numbers.push_back(buffer->tensor().to_vector());
  }
  return numbers;
}

TEST(AttentiveReaderOnGpu, IsTheSameAsOnTheCpu) {
  NEED_GPU();
  for (const bool more : {false, true}) {
    AttentiveReaderOptions options;
    options.batch_norm_attention = options.trained_initial_states = more;
    const auto on_cpu = reader_on(Device::cpu, options), on_gpu = reader_on(Device::cuda, options);
    ASSERT_EQ(on_gpu.size(), on_cpu.size());
    for (size_t i = 0; i < on_cpu.size(); ++i)
      expect_same(on_gpu[i], on_cpu[i], fmt::format("{} number {}", more ? "normalised," : "", i));
  }
}

}  // namespace
}  // namespace rondo
