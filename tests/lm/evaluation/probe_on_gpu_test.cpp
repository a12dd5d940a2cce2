// A probe sees the same on both devices.
#include "lm/evaluation/probe.h"

#include "lm/tasks/question_answering.h"
#include "lm/tasks/skip_thought.h"
#include "lm/tasks/speech.h"
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

TEST(ProbeOnGpu, SeesTheSameOfModelsOfSentences) {
  NEED_GPU();
  AttentiveReaderOptions reader;
  reader.embedding = 4;
  reader.hidden = 6;
  Questions questions{{}, {}, {2, 0}, {0, 1, 2}, {0, 1, 2, -1, -1, -1, -1}};
  for (const std::vector<int32_t>& it : std::vector<std::vector<int32_t>>{{1, 0, 5, 2, 6}, {3, 4}})
    questions.documents.add(it), questions.questions.add(it);
  AttentiveReader on_cpu(reader, 7, 3), on_gpu(reader, 7, 3, 1, Device::cuda);
  expect_same_probe(probe(on_gpu, questions, {}), probe(on_cpu, questions, {}));

  SkipThoughtOptions skip_thought;
  skip_thought.encoder = SkipEncoder::combine;
  skip_thought.embedding = 4;
  skip_thought.hidden = 6;
  Triples triples;
  for (const std::vector<int32_t>& it :
       std::vector<std::vector<int32_t>>{{1, 2, 0}, {3, 4, 5, 0}, {2, 0}, {5, 1, 0}})
    triples.sentences.add(it);
  triples.middles = {1, 2};
  SkipThought skip_on_cpu(skip_thought, 6, 3), skip_on_gpu(skip_thought, 6, 3, Device::cuda);
  expect_same_probe(probe(skip_on_gpu, triples, {}), probe(skip_on_cpu, triples, {}));

  const FrameOptions frames{.filterbank = {.filters = 3}, .deltas = 0};
  CtcModelOptions recogniser;
  recogniser.layers = 1;
  recogniser.hidden = 6;
  Utterances utterances{{Frames{3, std::vector<float>(15, 0.5F)}}, {{1, 2}}, {""}};
  CtcModel heard_on_cpu(recogniser, 3, 4), heard_on_gpu(recogniser, 3, 4, 1, Device::cuda);
  expect_same_probe(probe(heard_on_gpu, utterances, frames, {}), probe(heard_on_cpu, utterances, frames, {}));
}

}  // namespace
}  // namespace rondo
