// Models of whole sentences on both devices: a training step with dropout, and evaluation; of
// encoder-decoders also steps over chosen rows, as beam search takes them.
#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "nn/models/attentive_reader.h"
#include "nn/models/ctc_model.h"
#include "nn/models/encoder_decoder.h"
#include "nn/models/sentence_classifier.h"
#include "nn/models/skip_thought.h"
#include "tests/nn/models/same_model.h"

namespace rondo {
namespace {

template <class Options>
Options small_options() {
  Options options;
  options.embedding = 5;
  set(options, "hidden=6 dropout=0.3");
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
    expect_same_model<AttentiveReader>(more ? "normalised" : "plain", 3, tolerance, options, step, 9, 4, 3);
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
    expect_same_model<CtcModel>(cell, 2, tolerance, options, step, 5, 4, 3);
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
      expect_same_model<SentenceClassifier>(name_of(summary), 3, tolerance, options, step, 9, 4, 3);
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
      expect_same_model<SkipThought>(name_of(encoder) + " " + name_of(context), 3, tolerance, options, step,
                                     9, 3);
    }
}

/// With and without telling the decoder where its padding is; in evaluation also two steps, with two
/// hypotheses of two sentences in the second one.
Variable step_of_encoder_decoder(EncoderDecoder& model, Results& results) {
  constexpr int64_t B = 4, S = 6, T = 5, V = 23;
  const auto ids = [](int64_t steps, int64_t factor) {
    std::vector<int32_t> result;
    for (int64_t i = 0; i < steps * B; ++i) result.push_back(static_cast<int32_t>((i * i + factor * i) % V));
    return result;
  };
  std::vector<int32_t> targets = ids(T, 2);
  for (size_t b = 0; b < B; ++b)
    for (size_t t = b + 2; t < T; ++t) targets[t * B + b] = -1;
  const auto source = [&] { return model.encode({tokens(ids(S, 3)), S, B, {6, 1, 4, 3}}); };
  Variable total;
  for (const Lengths& lengths : {Lengths{}, Lengths{5, 3, 4, 1}}) {
    const auto output = model.decode({tokens(ids(T, 7)), T, B, lengths}, source());
    const CrossEntropy loss = model.cross_entropy(output.readout, tokens(targets), 0.1);
    results.push_back(loss.each.to_vector());
    if (output.attention.defined()) results.push_back(output.attention.value().to_vector());
    total = total.defined() ? total + loss.total : loss.total;
  }
  if (model.training()) return total;
  const NoGradient guard;
  const EncoderDecoder::Source some = model.select(source(), {0, 2});
  model.begin_steps(2);
  auto [first, position] = model.step(tokens({0, 0}), model.first_position(some), some);
  position = model.select(position, {0, 1, 0, 1});
  model.begin_steps(4);
  const auto second = model.step(tokens({3, 1, 4, 2}), position, some).output;
  results.push_back(model.logits(second.readout).value().to_vector());
  return total;
}

class EncoderDecoderOnGpu : public testing::TestWithParam<Score> {
 protected:
  static void expect_same_on_both(const std::string& name, EncoderDecoderOptions options) {
    set(options, "embedding=6 readout=6 hidden=8 dropout=0.3");
    options.attention = GetParam();
    expect_same_model<EncoderDecoder>(name, 4, tolerance, options, step_of_encoder_decoder, 23, 23, 3);
  }
};

TEST_P(EncoderDecoderOnGpu, OfEachCell) {
  NEED_GPU();
  for (const std::string cell : {"lstm", "gru", "mi_lstm", "mlstm"}) {
    EncoderDecoderOptions it;
    it.cell = cell;
    expect_same_on_both(cell, it);
  }
}

TEST_P(EncoderDecoderOnGpu, WithInputFeedingTiedTablesAndMoreLayers) {
  NEED_GPU();
  EncoderDecoderOptions it;
  it.input_feeding = GetParam() != Score::none;
  set(it, "tied=all encoder_layers=2 decoder_layers=3 variational=true weight_drop=0.3");
  expect_same_on_both("bidirectional", it);
  it.bidirectional = false;
  it.bridge = Bridge::copy;
  expect_same_on_both("a copied state", it);
}

INSTANTIATE_TEST_SUITE_P(Attention, EncoderDecoderOnGpu,
                         testing::Values(Score::none, Score::dot, Score::general, Score::additive),
                         [](const auto& instance) { return name_of(instance.param); });

}  // namespace
}  // namespace rondo
