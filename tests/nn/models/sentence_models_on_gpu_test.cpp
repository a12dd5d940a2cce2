// Models of whole sentences on both devices: a training step with dropout, and evaluation.
#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "nn/models/attentive_reader.h"
#include "nn/models/ctc_model.h"
#include "nn/models/sentence_classifier.h"
#include "nn/models/skip_thought.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

using Results = std::vector<std::vector<real>>;

/// Computes with a model on both devices and compares what `step(model, results)` adds to the results,
/// all gradients of the loss that it returns, and what the model keeps of the batch of B.
template <class Model, class Options, class Step, class... Sizes>
void expect_same_model(const std::string& name, int64_t B, const Options& options, const Step& step,
                       Sizes... sizes) {
  const auto results_on = [&](Device device) {
    Model model(options, sizes..., 3, device);
    Results results;
    for (const bool trains : {true, false}) {
      model.set_training(trains);
      fill(model.gradients(), 0);
      model.begin_update({.seed = 3, .update = 1, .slice = {B, 0, B}});
      step(model, results).backward();
      for (const Segment& segment : model.segments())
        results.push_back(part_of(model.gradients(), segment).to_vector());
      for (const Buffer* buffer : model.buffers()) results.push_back(buffer->tensor().to_vector());
    }
    return results;
  };
  const Results on_cpu = results_on(Device::cpu), on_gpu = results_on(Device::cuda);
  ASSERT_EQ(on_gpu.size(), on_cpu.size());
  for (size_t i = 0; i < on_cpu.size(); ++i)
    expect_same(on_gpu[i], on_cpu[i], fmt::format("{}, number {}", name, i));
}

template <class Options>
Options small_options() {
  Options options;
  options.embedding = 5;
  options.hidden = 6;
  options.dropout = 0.3;
  return options;
}

SentenceInput sentences() { return {tokens({1, 5, 8, 2, 6, 8, 3, 7, 0, 4, 8, 0}), 4, 3, {4, 4, 2}}; }
SentenceInput short_sentences() { return {tokens({3, 5, 1, 2, 0, 8}), 2, 3, {2, 1, 2}}; }

TEST(AttentiveReaderOnGpu, IsTheSameAsOnTheCpu) {
  NEED_GPU();
  const auto step = [](AttentiveReader& model, Results& results) {
    const auto [joint, attention] = model(sentences(), short_sentences());
    results.push_back(attention.value().to_vector());
    results.push_back(model.logits(joint).value().to_vector());
    const CrossEntropy loss = model.cross_entropy(joint, tokens({3, -1, 2}));
    results.push_back(loss.each.to_vector());
    return loss.total;
  };
  for (const bool more : {false, true}) {
    auto options = small_options<AttentiveReaderOptions>();
    options.batch_norm_attention = options.trained_initial_states = more;
    expect_same_model<AttentiveReader>(more ? "normalised" : "plain", 3, options, step, 9, 4);
  }
}

TEST(CtcModelOnGpu, IsTheSameAsOnTheCpu) {
  NEED_GPU();
  const auto step = [](CtcModel& model, Results& results) {
    std::vector<real> numbers;
    for (int i = 0; i < 7 * 2 * 5; ++i) numbers.push_back(static_cast<real>(i * 37 % 23) / 11 - 1);
    const Lengths lengths{7, 5};
    const Variable scores = model.scores(Tensor::from(numbers, {7, 2, 5}, model.device()), lengths);
    const Variable nats = ctc_loss(scores, CtcTargets({{1, 2, 2}, {3}}, lengths));
    results.push_back(scores.value().slice_rows(0, 10).to_vector());  // of steps without padding
    results.push_back(nats.value().to_vector());
    return sum(nats);
  };
  for (const char* cell : {"lstm", "mi_lstm"}) {
    auto options = small_options<CtcModelOptions>();
    options.cell = cell;
    options.layers = 2;
    expect_same_model<CtcModel>(cell, 2, options, step, 5, 4);
  }
}

TEST(SentenceClassifierOnGpu, IsTheSameAsOnTheCpu) {
  NEED_GPU();
  const auto step = [](SentenceClassifier& model, Results& results) {
    const Variable s = model.summary(sentences());
    results.push_back(model.logits(s).value().to_vector());
    const CrossEntropy loss = model.cross_entropy(s, tokens({3, 0, 2}));
    results.push_back(loss.each.to_vector());
    return loss.total;
  };
  for (const Summary summary : {Summary::last, Summary::mean, Summary::max})
    for (const bool bidirectional : {false, true}) {
      auto options = small_options<SentenceClassifierOptions>();
      options.layers = 2;
      options.bidirectional = bidirectional;
      options.summary = summary;
      expect_same_model<SentenceClassifier>(name_of(summary), 3, options, step, 9, 4);
    }
}

TEST(SkipThoughtOnGpu, IsTheSameAsOnTheCpu) {
  NEED_GPU();
  const auto step = [](SkipThought& model, Results& results) {
    const SentenceInput inputs{tokens({0, 0, 0, 3, 1, 2}), 2, 3, {2, 1, 2}};
    const Tokens targets = tokens({3, 1, 2, 0, -1, 0});
    Variable total;
    for (const auto& part : model.parts()) {
      const Variable vectors = part->encode(sentences());
      results.push_back(vectors.value().to_vector());
      for (RecurrentStack* decoder : {&part->previous, &part->next}) {
        const CrossEntropy loss = part->cross_entropy(part->decode(*decoder, inputs, vectors), targets);
        results.push_back(loss.each.to_vector());
        total = total.defined() ? total + loss.total : loss.total;
      }
    }
    return total;
  };
  for (const SkipEncoder encoder : {SkipEncoder::uni, SkipEncoder::combine})
    for (const SkipContext context : {SkipContext::gates, SkipContext::first_state}) {
      auto options = small_options<SkipThoughtOptions>();
      options.cell = "mi_gru";
      options.encoder = encoder;
      options.context = context;
      expect_same_model<SkipThought>(name_of(encoder) + " " + name_of(context), 3, options, step, 9);
    }
}

}  // namespace
}  // namespace rondo
