// Skip-thought vectors on both devices: a training step with dropout, and evaluation.
#include "nn/models/skip_thought.h"

#include "autograd/operators/arithmetic.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

/// The vectors, the losses and all gradients.
std::vector<std::vector<real>> numbers_on(Device device, SkipEncoder encoder, SkipContext context) {
  SkipThoughtOptions options;
  options.cell = "mi_gru";
  options.embedding = 5;
  options.hidden = 6;
  options.encoder = encoder;
  options.context = context;
  options.dropout = 0.3;
  SkipThought model(options, 9, 3, device);
  const SentenceInput middle{tokens({1, 5, 8, 2, 6, 8, 3, 7, 0, 4, 8, 0}), 4, 3, {4, 4, 2}};
  const SentenceInput inputs{tokens({0, 0, 0, 3, 1, 2}), 2, 3, {2, 1, 2}};
  const Tokens targets = tokens({3, 1, 2, 0, -1, 0});
  std::vector<std::vector<real>> numbers;
  for (const bool trains : {true, false}) {
    model.set_training(trains);
    fill(model.gradients(), 0);
    model.begin_update({.seed = 3, .update = 1, .slice = {3, 0, 3}});
    for (const auto& part : model.parts()) {
      const Variable vectors = part->encode(middle);
      numbers.push_back(vectors.value().to_vector());
      const CrossEntropy previous =
                             part->cross_entropy(part->decode(part->previous, inputs, vectors), targets),
                         next = part->cross_entropy(part->decode(part->next, inputs, vectors), targets);
      numbers.push_back(previous.each.to_vector());
      numbers.push_back(next.each.to_vector());
      (previous.total + next.total).backward();
    }
    for (const Segment& segment : model.segments())
      numbers.push_back(part_of(model.gradients(), segment).to_vector());
  }
  return numbers;
}

TEST(SkipThoughtOnGpu, IsTheSameAsOnTheCpu) {
  NEED_GPU();
  for (const SkipEncoder encoder : {SkipEncoder::uni, SkipEncoder::combine})
    for (const SkipContext context : {SkipContext::gates, SkipContext::first_state}) {
      const auto on_cpu = numbers_on(Device::cpu, encoder, context);
      const auto on_gpu = numbers_on(Device::cuda, encoder, context);
      ASSERT_EQ(on_gpu.size(), on_cpu.size());
      for (size_t i = 0; i < on_cpu.size(); ++i)
        expect_same(on_gpu[i], on_cpu[i],
                    fmt::format("{} {}, number {}", name_of(encoder), name_of(context), i));
    }
}

}  // namespace
}  // namespace rondo
