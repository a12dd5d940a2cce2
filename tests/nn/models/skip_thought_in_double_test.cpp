// Skip-thought vectors against plain loops written from the paper's equations, their gradients, and padding.
#include "nn/models/skip_thought.h"

#include "tests/nn/models/plain_model.h"
#include "tests/temporary_folder.h"

namespace rondo::skip_thought_test {
namespace {

using Ids = std::vector<int32_t>;

constexpr int64_t V = 7, E = 3;

SkipThoughtOptions options_of(SkipEncoder encoder, SkipContext context, const std::string& cell = "gru") {
  SkipThoughtOptions options;
  set(options, "embedding=3 hidden=4 init_all=0.8");  // large enough that nothing is nearly linear
  options.cell = cell;
  options.encoder = encoder;
  options.context = context;
  return options;
}

// Symbol 0 ends a sentence.
const std::vector<Ids> middles = {{1, 4, 2, 5, 0}, {3, 0}, {2, 6, 0}};
const std::vector<Ids> others = {{4, 0}, {2, 2, 6, 1, 0}, {5, 3, 0}};

Variable loss_of(SkipThought& model, int64_t steps = 5, int32_t padding = 0) {
  Variable sum;
  for (const auto& part : model.parts()) {
    const Variable vectors = part->encode(batch_of(middles, steps, padding));
    for (const bool next : {false, true}) {
      const std::vector<Ids>& written = next ? middles : others;
      const Variable states = part->decode(next ? part->next : part->previous,
                                           batch_of(one_step_late(written), steps, padding), vectors);
      const Variable total = part->cross_entropy(states, batch_of(written, steps, -1).ids).total;
      sum = sum.defined() ? sum + total : total;
    }
  }
  return sum;
}

struct PlainSkip {
  const SkipThoughtOptions& options;
  PlainModel model;
  bool bidirectional;

  /// (1)-(4).
  Vector vector_of(const Ids& sentence) const {
    return model
        .read({"encoder", options.cell, 1, options.hidden, bidirectional},
              model.rows_of("embedding.weight", sentence, E))
        .second.back()
        .h;
  }
  /// -sum_t log p(w_t | w_<t, vector): (5)-(9) with x = [x ; h_i], where the cell's z is the paper's 1 - z.
  Number nats(const std::string& decoder, const Ids& sentence, const Vector& vector) const {
    const PlainCell cell = plain_cell(options.decoder_cell);
    PlainState state{Vector(vector.size())};
    if (options.context != SkipContext::gates) state.h = vector;
    Number sum = 0;
    for (size_t t = 0; t < sentence.size(); ++t) {
      Vector x = t == 0 ? Vector(E) : model.row_of("embedding.weight", sentence[t - 1], E);
      if (options.context != SkipContext::first_state) append(x, vector);
      state = cell(model.layer_of(decoder, "_l0", std::ssize(x), options.hidden), x, state, state.h);
      const Vector z = model.product("output.weight", state.h, "output.bias");
      sum -= log_softmax_of(z)[static_cast<size_t>(sentence[t])];
    }
    return sum;
  }
};

const SkipEncoder encoders[] = {SkipEncoder::uni, SkipEncoder::bi, SkipEncoder::combine};
const SkipContext contexts[] = {SkipContext::gates, SkipContext::first_state, SkipContext::both};

void expect_plain(const SkipThoughtOptions& options) {
  SCOPED_TRACE(options.cell + " " + name_of(options.encoder) + " " + name_of(options.context));
  SkipThought model(options, V);
  const auto parts_of = [&](const Parameters& parameters) {
    if (options.encoder != SkipEncoder::combine)
      return std::vector<PlainSkip>{{options, PlainModel(parameters), options.encoder == SkipEncoder::bi}};
    return std::vector<PlainSkip>{{options, PlainModel(parameters, "uni."), false},
                                  {options, PlainModel(parameters, "bi."), true}};
  };
  const std::vector<real> vectors = model.encode(batch_of(middles, 6, 3)).value().to_vector();
  ASSERT_EQ(std::ssize(vectors), std::ssize(middles) * model.width());
  const Parameters parameters = parameters_of(model);
  auto next = vectors.begin();
  for (const Ids& middle : middles)
    for (const PlainSkip& part : parts_of(parameters))
      for (const Number& it : part.vector_of(middle)) EXPECT_NEAR(*next++, it.real(), 1e-12);
  expect_plain_loss(model, loss_of(model), [&](const Parameters& moved) {
    Number sum = 0;
    for (size_t b = 0; b < middles.size(); ++b)
      for (const PlainSkip& part : parts_of(moved)) {
        const Vector vector = part.vector_of(middles[b]);
        sum += part.nats("previous", others[b], vector) + part.nats("next", middles[b], vector);
      }
    return sum;
  });
}

TEST(SkipThought, IsThatOfPlainLoops) {
  for (const SkipEncoder encoder : encoders)
    for (const SkipContext context : contexts) expect_plain(options_of(encoder, context));
  expect_plain(options_of(SkipEncoder::uni, SkipContext::gates, "mi_gru"));
  SkipThoughtOptions others_in_it = options_of(SkipEncoder::bi, SkipContext::both, "lstm");
  others_in_it.decoder_cell = "mi_gru";
  others_in_it.trained_initial_states = true;
  expect_plain(others_in_it);
}

// In the loss and in all gradients; a cell that compares rows has to be told where sentences end.
TEST(SkipThought, PaddingHasNoInfluence) {
  for (const std::string cell : {"gru", "bn_lstm"}) {
    SkipThoughtOptions options = options_of(SkipEncoder::combine, SkipContext::gates, cell);
    options.decoder_cell = cell;
    SkipThought model(options, V);
    model.set_training(true);
    const auto gradients = [&](int64_t steps, int32_t padding) {
      fill(model.gradients(), 0);
      model.begin_update({.seed = 3, .update = 1, .slice = {3, 0, 3}});
      const Variable loss = loss_of(model, steps, padding);
      loss.backward();
      std::vector<real> numbers = model.gradients().to_vector();
      numbers.push_back(loss.value().item());
      return numbers;
    };
    const std::vector<real> once = gradients(5, 0), again = gradients(7, 4);
    for (size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(once[i], again[i], 1e-12) << cell;
  }
}

TEST(SkipThought, ATableOfMoreWordsTakesThePlaceOfTheTrainedOne) {
  SkipThought model(options_of(SkipEncoder::uni, SkipContext::gates), V);
  std::vector<real> table = model.parts()[0]->embedding.weight.variable().value().to_vector();
  for (int64_t e = 0; e < E; ++e) table.push_back(table[static_cast<size_t>(4 * E + e)]);  // word 7 is word 4
  const Variable longer(Tensor::from(table, {V + 1, E}, Device::cpu));
  const std::vector<Ids> known = {{1, 4, 0}}, with_new = {{1, 7, 0}};
  EXPECT_EQ(model.encode(batch_of(with_new, 3, 0), {longer}).value().to_vector(),
            model.encode(batch_of(known, 3, 0)).value().to_vector());
}

TEST(SkipThought, RefusesOptionsThatContradictEachOther) {
  SkipThoughtOptions odd = options_of(SkipEncoder::combine, SkipContext::gates);
  odd.hidden = 5;
  expect_contains(error_of([&] { SkipThought(odd, V); }), "model.hidden = 5");
  SkipThoughtOptions twice = options_of(SkipEncoder::uni, SkipContext::gates);
  twice.recurrent_init.kind = InitialValues::Kind::orthogonal;
  expect_contains(error_of([&] { SkipThought(twice, V); }), "leave out model.recurrent_init");
  SkipThoughtOptions decoder = options_of(SkipEncoder::uni, SkipContext::gates, "lstm");
  decoder.regularization.zoneout_memory = 0.1;  // the decoder's GRU has no memory c
  expect_contains(error_of([&] { SkipThought(decoder, V); }), "zoneout_memory");
}

// Wu et al. 2016, Table 2: of 2400 units, words of 620 numbers and 20,000 words.
TEST(SkipThought, CountsItsParameters) {
  SkipThoughtOptions options;
  const int64_t H = 2400, words = 20000;
  const int64_t gru = 3 * H * (620 + H) + 6 * H, decoder = 3 * H * (620 + H + H) + 6 * H;
  EXPECT_EQ(SkipThought(options, words, 1, Device::meta).parameter_count(),
            words * 620 + gru + 2 * decoder + words * H + words);
}

}  // namespace
}  // namespace rondo::skip_thought_test
