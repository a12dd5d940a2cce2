// Translation and classification on both devices: a training, and the beam search of what it has learned.
#include "lm/decoding/translate.h"
#include "tests/cuda/device.h"
#include "tests/lm/tasks/reversal_training.h"
#include "tests/lm/tasks/toy_sentences.h"

namespace rondo {
namespace {

/// What may differ between sentences of one length and of many, and random numbers of all kinds.
std::vector<EncoderDecoderOptions> various_options() {
  EncoderDecoderOptions plain = small_encoder_decoder(), fed = plain, variational = plain;
  plain.dropout = 0.2;
  plain.cell = "gru";
  plain.attention = Score::none;
  plain.bidirectional = true;
  fed.input_feeding = true;
  fed.attention = Score::additive;
  fed.bridge = Bridge::copy;
  fed.regularization.zoneout = 0.2;
  variational.variational = true;
  variational.dropout = variational.regularization.dropout = variational.regularization.weight_drop = 0.2;
  variational.encoder_layers = variational.decoder_layers = 2;
  variational.trained_initial_states = true;
  return {plain, fed, variational};
}
const TranslationOptions smoothed{.batches = {.order = {.batch = 10}, .reverse_source = true},
                                  .label_smoothing = 0.1};

/// EXPECT that trainings replay what they compute eagerly, and that the CPU computes the same.
template <class Make>
void expect_same_training(Make training_on) {
  auto replayed = training_on(Device::cuda), eager = training_on(Device::cuda),
       on_cpu = training_on(Device::cpu);
  eager.trainer.set_replay(false);
  for (int i = 0; i < 12; ++i) {  // rounding errors grow with the steps
    advance(replayed, 1), advance(on_cpu, 1);
    EXPECT_NEAR(replayed.trainer.metrics().loss / on_cpu.trainer.metrics().loss, 1, 1e-4) << i;
  }
  advance(replayed, 13), advance(eager, 25);
  EXPECT_EQ(replayed.model.values().to_vector(), eager.model.values().to_vector());
}

TEST(TranslationOnGpu, OfRectanglesIsReplayedAndTheCpus) {
  NEED_GPU();
  for (const EncoderDecoderOptions& options : various_options()) {
    SCOPED_TRACE(options.cell);
    expect_same_training([&](Device device) { return ReversalTraining(smoothed, options, 100, device); });
  }
}

struct ClassifierTraining {
  ClassifierTraining(Summary summary, Device device)
      : model(small_classifier(summary), 5, 2, 1, device),
        task(model, {.batch = 4}, text, text),
        trainer(task, {.epochs = 9}) {}
  LabelledSentences text = toy(40, 1);
  SentenceClassifier model;
  Classification task;
  Trainer trainer;
};

// Of 4, 8 or 12 steps.
TEST(ClassificationOnGpu, OfRectanglesIsReplayedAndTheCpus) {
  NEED_GPU();
  for (const Summary summary : {Summary::last, Summary::mean, Summary::max}) {
    SCOPED_TRACE(name_of(summary));
    expect_same_training([&](Device device) { return ClassifierTraining(summary, device); });
  }
}

TEST(TranslationOnGpu, TrainsAndTranslatesAsOnTheCpu) {
  NEED_GPU();
  for (const Score attention : {Score::none, Score::general}) {
    EncoderDecoderOptions options = small_encoder_decoder();
    options.attention = attention;
    options.dropout = 0.2;
    const TranslationOptions task{.batches = {.order = {.batch = 10}}, .label_smoothing = 0.1};
    ReversalTraining on_cpu(task, options, 100), on_gpu(task, options, 100, Device::cuda);
    on_cpu.advance(8);
    copy(on_cpu.model.values(), on_gpu.model.values());
    const Evaluation cpu_nats = evaluate_pairs(on_cpu.model, on_cpu.valid),
                     gpu_nats = evaluate_pairs(on_gpu.model, on_gpu.valid);
    EXPECT_NEAR(gpu_nats.nats(), cpu_nats.nats(), 1e-5);
    const bool attends = attention != Score::none;
    for (const int64_t beam : {1, 4}) {
      const BeamOptions search{.beam = beam, .n_best = beam, .max_length = 8, .attention = attends};
      auto sources = on_cpu.sources();
      sources.resize(12);
      const auto expected =
                     translate(on_cpu.model, in_sentences(sources), false, on_cpu.valid.symbols(), search),
                 found =
                     translate(on_gpu.model, in_sentences(sources), false, on_cpu.valid.symbols(), search);
      for (size_t i = 0; i < sources.size(); ++i) {
        ASSERT_EQ(found[i].size(), expected[i].size());
        for (size_t k = 0; k < found[i].size(); ++k) {
          EXPECT_EQ(found[i][k].ids, expected[i][k].ids) << "sentence " << i << ", " << k;
          EXPECT_NEAR(found[i][k].log_p, expected[i][k].log_p, 1e-4);
          ASSERT_EQ(found[i][k].attention.size(), expected[i][k].attention.size());
          for (size_t t = 0; t < found[i][k].attention.size(); ++t)
            expect_same({found[i][k].attention[t].begin(), found[i][k].attention[t].end()},
                        {expected[i][k].attention[t].begin(), expected[i][k].attention[t].end()},
                        "the attention");
        }
      }
    }
  }
}

}  // namespace
}  // namespace rondo
