// The whole encoder-decoder: its losses, its attention and its gradients against plain loops, which read each
// sentence alone, so that padding is seen to change nothing. With dropout: encoder-decoders on a GPU, and
// tests/lm/training/ranks_in_both_test.cpp.
#include "nn/models/encoder_decoder.h"

#include <gtest/gtest.h>

#include "tests/autograd/samples.h"
#include "tests/nn/models/plain_encoder_decoder.h"

namespace rondo::encoder_decoder_test {
namespace {

constexpr int64_t B = 3, S = 4, T = 5, V = 6;

// Sentences of several lengths, in several orders; symbol 0 ends each. The decoder is to write `written`, and
// then reads `read`.
const IdLists sources = {{3, 1, 0}, {4, 5, 2, 0}, {0}}, written = {{2, 2, 5, 1, 0}, {1, 0}, {3, 4, 0}},
              read = one_step_late(written);

/// The three sentences as a batch. Padding is any symbol.
struct Batch {
  explicit Batch(int32_t padding = 0)
      : source(batch_of(sources, S, padding)),
        inputs(batch_of(read, T, padding)),
        targets(batch_of(written, T, -1).ids) {}
  /// So that a GPU could replay it.
  void make_rectangles() {
    source.lengths = rectangle(source.lengths, S);
    inputs.lengths = rectangle(inputs.lengths, T);
  }
  SentenceInput source, inputs;
  Tokens targets;
};

EncoderDecoderOptions tiny(const std::string& cell = "lstm", Score attention = Score::general) {
  EncoderDecoderOptions options;  // init_all: steep enough that every part matters
  set(options, "embedding=3 hidden=4 encoder_layers=2 decoder_layers=2 readout=3 init_all=0.8");
  options.cell = cell;
  options.attention = attention;
  return options;
}

/// All gradients, the loss of each symbol and the total, of smoothed labels.
std::vector<real> numbers_of(EncoderDecoder& model, const Batch& batch) {
  fill(model.gradients(), 0);
  const EncoderDecoder::Output output = model.decode(batch.inputs, model.encode(batch.source));
  const CrossEntropy loss = model.cross_entropy(output.readout, batch.targets, 0.1);
  loss.total.backward();
  std::vector<real> numbers = model.gradients().to_vector(), each = loss.each.to_vector();
  numbers.insert(numbers.end(), each.begin(), each.end());
  numbers.push_back(loss.total.value().item());
  return numbers;
}

/// Szegedy et al. 2016, section 7: the cross entropy to (1 - e) at the target and e / V at every symbol.
Number plain_loss(const EncoderDecoderOptions& options, const Parameters& parameters, double smoothing) {
  const PlainEncoderDecoder model(options, parameters);
  Number loss = 0;
  for (size_t b = 0; b < B; ++b) {
    const auto steps = model.read(sources[b], read[b]);
    for (size_t t = 0; t < steps.size(); ++t)
      for (int32_t v = 0; v < V; ++v)
        loss -= ((v == written[b][t] ? 1 - smoothing : 0) + smoothing / V) *
                steps[t].log_p[static_cast<size_t>(v)];
  }
  return loss;
}

void expect_plain(const EncoderDecoderOptions& options, double smoothing = 0) {
  EncoderDecoder model(options, V, V, 11);
  const Batch batch;
  const EncoderDecoder::Source source = model.encode(batch.source);
  const EncoderDecoder::Output output = model.decode(batch.inputs, source);
  const CrossEntropy loss = model.cross_entropy(output.readout, batch.targets, smoothing);

  const Parameters parameters = parameters_of(model);
  const PlainEncoderDecoder plain(options, parameters);
  const std::vector<real> each = loss.each.to_vector();
  const bool attends = options.attention != Score::none;
  ASSERT_EQ(output.attention.defined(), attends);
  if (attends) {
    ASSERT_EQ(output.attention.shape(), (Shape{T, B, S}));
  }
  const std::vector<real> attention = attends ? output.attention.value().to_vector() : std::vector<real>();
  for (size_t b = 0; b < B; ++b) {
    const auto steps = plain.read(sources[b], read[b]);
    for (size_t t = 0; t < T; ++t) {
      const bool scored = t < steps.size();
      const auto y = static_cast<size_t>(scored ? written[b][t] : 0);
      EXPECT_NEAR(each[t * B + b], scored ? -steps[t].log_p[y].real() : 0, 1e-12);
      for (size_t s = 0; attends && scored && s < S; ++s)
        EXPECT_NEAR(attention[(t * B + b) * S + s],
                    s < steps[t].attention.size() ? steps[t].attention[s].real() : 0, 1e-12);
    }
  }
  expect_plain_loss(
      model, loss.total, [&](const Parameters& moved) { return plain_loss(options, moved, smoothing); },
      true);
}

constexpr Score attentions[] = {Score::none, Score::dot, Score::general, Score::additive};

class EncoderDecoderOf : public testing::TestWithParam<std::string> {};

TEST_P(EncoderDecoderOf, IsPlainLoopsWithEachAttention) {
  for (const Score attention : attentions)
    for (const bool bidirectional : {false, true}) {
      SCOPED_TRACE(fmt::format("{} attention, bidirectional: {}", name_of(attention), bidirectional));
      EncoderDecoderOptions options = tiny(GetParam(), attention);
      options.bidirectional = options.trained_initial_states = bidirectional;
      expect_plain(options);
    }
}

TEST_P(EncoderDecoderOf, IsPlainLoopsWithInputFeeding) {
  for (const Score attention : attentions) {
    if (attention == Score::none) continue;
    SCOPED_TRACE(name_of(attention));
    EncoderDecoderOptions options = tiny(GetParam(), attention);
    options.input_feeding = true;
    expect_plain(options);
  }
}

TEST_P(EncoderDecoderOf, IsPlainLoopsWithEachBridge) {
  for (const Bridge bridge : {Bridge::zeros, Bridge::copy, Bridge::linear})
    for (const bool bidirectional : {false, true})
      for (const auto& [encoder_layers, decoder_layers] : {std::pair(1, 1), {1, 3}, {3, 2}}) {
        SCOPED_TRACE(fmt::format("{}, bidirectional: {}, {} and {} layers", name_of(bridge), bidirectional,
                                 encoder_layers, decoder_layers));
        EncoderDecoderOptions options = tiny(GetParam());
        options.bridge = bridge;
        options.bidirectional = bidirectional;
        options.encoder_layers = encoder_layers;
        options.decoder_layers = decoder_layers;
        expect_plain(options);
      }
}

INSTANTIATE_TEST_SUITE_P(Cells, EncoderDecoderOf, testing::Values("lstm", "gru", "mi_lstm", "mlstm"),
                         [](const auto& instance) { return instance.param; });

TEST(EncoderDecoderValues, ArePlainLoopsWithTiedTables) {
  for (const Score attention : {Score::none, Score::general})
    for (const TiedTables tied : {TiedTables::output, TiedTables::all}) {
      SCOPED_TRACE(name_of(tied));
      EncoderDecoderOptions options = tiny("lstm", attention);
      options.tied = tied;
      expect_plain(options);
    }
}

TEST(EncoderDecoderValues, ArePlainLoopsWithLabelSmoothing) {
  for (const TiedTables tied : {TiedTables::none, TiedTables::output}) {
    EncoderDecoderOptions options = tiny();
    options.tied = tied;
    expect_plain(options, 0.1);
    expect_plain(options, 0.9);
  }
}

// Whatever symbols lie in the padding, loss and gradients are the same to the last bit; with and without
// telling the decoder where its padding is.
TEST(EncoderDecoderValues, DoNotDependOnPadding) {
  for (const Score attention : attentions)
    for (const bool fed : {false, true})
      for (const bool told : {false, true}) {
        EncoderDecoderOptions options = tiny("lstm", attention);
        options.input_feeding = fed && attention != Score::none;
        EncoderDecoder model(options, V, V, 11);
        const auto of = [&](int32_t padding) {
          Batch batch(padding);
          if (!told) batch.inputs.lengths = {};
          return numbers_of(model, batch);
        };
        EXPECT_EQ(of(0), of(5)) << name_of(attention);
      }
}

TEST(EncoderDecoder, OfRectanglesIsThatOfPackedSteps) {
  for (const Score attention : attentions)
    for (const bool fed : {false, true})
      for (const std::string cell : {"lstm", "mi_gru"}) {
        EncoderDecoderOptions options = tiny(cell, attention);
        options.input_feeding = fed && attention != Score::none;
        options.bidirectional = fed;
        EncoderDecoder model(options, V, V, 11);
        const auto of = [&](bool rectangles, int32_t padding) {
          Batch batch(padding);
          if (rectangles) batch.make_rectangles();
          return numbers_of(model, batch);
        };
        const std::vector<real> packed = of(false, 0), rectangles = of(true, 0);
        EXPECT_EQ(rectangles, of(true, 5)) << name_of(attention);
        for (size_t i = 0; i < packed.size(); ++i)
          ASSERT_NEAR(rectangles[i], packed[i], 1e-12) << cell << ", " << name_of(attention) << ", " << i;
      }
}

/// Every number that a step gives, for rows 0 .. N - 1.
std::vector<real> rows_of(const Variable& x, int64_t begin, int64_t end_row) {
  return x.value().slice_rows(begin, end_row).to_vector();
}
void expect_near(const std::vector<real>& actual, const std::vector<real>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-12) << i;
}

TEST(EncoderDecoderSteps, AreAllStepsAtOnce) {
  for (const std::string cell : {"lstm", "gru", "mi_lstm", "mlstm"})
    for (const Score attention : attentions)
      for (const bool fed : {false, true}) {
        if (fed && attention == Score::none) continue;
        SCOPED_TRACE(fmt::format("{}, {} attention, fed: {}", cell, name_of(attention), fed));
        EncoderDecoderOptions options = tiny(cell, attention);
        options.input_feeding = fed;
        EncoderDecoder model(options, V, V, 11);
        const NoGradient guard;
        Batch batch;
        batch.inputs.lengths = {};
        const EncoderDecoder::Source source = model.encode(batch.source);
        const EncoderDecoder::Output all = model.decode(batch.inputs, source);
        model.begin_steps(B);
        EncoderDecoder::Position position = model.first_position(source);
        for (int64_t t = 0; t < T; ++t) {
          const auto ids = batch.inputs.ids->begin() + t * B;
          auto [output, next] = model.step(tokens({ids, ids + B}), position, source);
          position = std::move(next);
          expect_near(output.readout.value().to_vector(), rows_of(all.readout, t * B, (t + 1) * B));
          if (attention != Score::none)
            expect_near(output.attention.value().to_vector(), all.attention.value()[t].to_vector());
        }
      }
}

// As beam search does: first some of the sentences, then several rows of each, row k * B' + b of sentence b.
TEST(EncoderDecoderSteps, OfChosenRowsAreThoseOfTheirSentences) {
  for (const Score attention : attentions)
    for (const bool fed : {false, true}) {
      if (fed && attention == Score::none) continue;
      SCOPED_TRACE(fmt::format("{} attention, fed: {}", name_of(attention), fed));
      EncoderDecoderOptions options = tiny("lstm", attention);
      options.input_feeding = fed;
      EncoderDecoder model(options, V, V, 11);
      const NoGradient guard;
      const EncoderDecoder::Source source = model.encode(Batch().source);
      // The last number that each prefix leads to, computed alone from the beginning.
      const auto alone = [&](int64_t sentence, const std::vector<int32_t>& prefix) {
        const EncoderDecoder::Source one = model.select(source, {sentence});
        model.begin_steps(1);
        EncoderDecoder::Position position = model.first_position(one);
        EncoderDecoder::Output output;
        for (const int32_t id : prefix) {
          auto [now, next] = model.step(tokens({id}), position, one);
          output = now, position = std::move(next);
        }
        return output;
      };
      const EncoderDecoder::Source some = model.select(source, {0, 2});
      model.begin_steps(2);
      EncoderDecoder::Step at = model.step(tokens({0, 0}), model.first_position(some), some);
      EncoderDecoder::Position position = model.select(at.next, {0, 1, 0, 1});
      model.begin_steps(4);
      at = model.step(tokens({1, 2, 3, 4}), position, some);
      position = model.select(at.next, {2, 1, 2, 3});  // of sentence 0 the second hypothesis, twice
      const auto [output, next] = model.step(tokens({5, 1, 2, 3}), position, some);
      const std::vector<std::pair<int64_t, std::vector<int32_t>>> rows = {
          {0, {0, 3, 5}}, {2, {0, 2, 1}}, {0, {0, 3, 2}}, {2, {0, 4, 3}}};
      for (int64_t r = 0; r < 4; ++r) {
        const auto& [sentence, prefix] = rows[static_cast<size_t>(r)];
        const EncoderDecoder::Output expected = alone(sentence, prefix);
        expect_near(rows_of(output.readout, r, r + 1), expected.readout.value().to_vector());
        if (attention != Score::none) {
          ASSERT_EQ(output.attention.shape(), (Shape{4, S}));
          expect_near(rows_of(output.attention, r, r + 1), expected.attention.value().to_vector());
        }
      }
    }
}

}  // namespace
}  // namespace rondo::encoder_decoder_test
