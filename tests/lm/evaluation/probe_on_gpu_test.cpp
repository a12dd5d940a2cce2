// A probe sees the same on both devices.
#include "lm/evaluation/probe.h"

#include "tests/cuda/device.h"
#include "tests/nn/models/small_model.h"

namespace rondo {
namespace {

void expect_same_means(const std::map<std::string, NormsByStep>& found,
                       const std::map<std::string, NormsByStep>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, norms] : expected) {
    ASSERT_EQ(found.at(name).steps.size(), norms.steps.size()) << name;
    for (size_t t = 0; t < norms.steps.size(); ++t) {
      if (norms.steps[t].count > 0) {
        EXPECT_NEAR(found.at(name).mean(t), norms.mean(t), 1e-4 * (1e-3 + norms.mean(t))) << name << " " << t;
      }
      EXPECT_EQ(found.at(name).steps[t].count, norms.steps[t].count) << name << " " << t;
    }
  }
}

void expect_same_probe(const Probed& found, const Probed& expected) {
  EXPECT_NEAR(found.nats, expected.nats, 1e-4);
  ASSERT_EQ(found.layers.size(), expected.layers.size());
  for (size_t i = 0; i < expected.layers.size(); ++i) {
    expect_same_means(found.layers[i].gradients, expected.layers[i].gradients);
    expect_same_means(found.layers[i].products, expected.layers[i].products);
    for (const auto& [name, gates] : expected.layers[i].gates)
      EXPECT_NEAR(found.layers[i].gates.at(name).mean(), gates.mean(), 1e-4) << name;
    for (const auto& [name, it] : expected.layers[i].activations)
      EXPECT_NEAR(found.layers[i].activations.at(name).mean(), it.mean(), 1e-4) << name;
  }
}

TEST(ProbeOnGpu, SeesTheSameAsOnTheCpu) {
  NEED_GPU();
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 100; ++i) ids.push_back((i * i + i / 3) % 7);
  for (const char* cell : {"lstm", "mi_rnn"}) {
    LanguageModel on_cpu(small(cell), 7, 3), on_gpu(small(cell), 7, 3, Device::cuda);
    expect_same_probe(probe(on_gpu, ids, {.steps = 6, .sequences = 5}),
                      probe(on_cpu, ids, {.steps = 6, .sequences = 5}));
  }
}

}  // namespace
}  // namespace rondo
