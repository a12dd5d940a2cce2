// Skip-thought vectors against plain loops written from the paper's equations, their gradients, and padding.
#include "nn/models/skip_thought.h"

#include <cmath>

#include "nn/gradient_check.h"
#include "tests/nn/models/plain_stack.h"
#include "tests/temporary_folder.h"

namespace rondo::skip_thought_test {
namespace {

using Ids = std::vector<int32_t>;

constexpr int64_t V = 7, E = 3;

SkipThoughtOptions options_of(SkipEncoder encoder, SkipContext context, const std::string& cell = "gru") {
  SkipThoughtOptions options;
  options.cell = cell;
  options.embedding = E;
  options.hidden = 4;
  options.encoder = encoder;
  options.context = context;
  options.init_all = 0.8;  // large enough that nothing is nearly linear
  return options;
}

// Symbol 0 ends a sentence.
const std::vector<Ids> middles = {{1, 4, 2, 5, 0}, {3, 0}, {2, 6, 0}};
const std::vector<Ids> others = {{4, 0}, {2, 2, 6, 1, 0}, {5, 3, 0}};

/// What a decoder reads: the end symbol, then the sentence without its last one.
std::vector<Ids> one_step_late(std::vector<Ids> sentences) {
  for (Ids& it : sentences) {
    it.insert(it.begin(), 0);
    it.pop_back();
  }
  return sentences;
}

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

struct PlainGru {
  const Module& model;
  std::string name, layer;
  int64_t H;

  double at(const std::string& weight, int64_t i, int64_t j) const {
    const Tensor it = value_of(model, weight);
    return it.data()[place_of(it, i * it.columns() + j)];
  }
  /// Row `row` of W x + b of both biases.
  double Wx(int64_t row, const Numbers& x) const {
    double z = at(name + ".bias_ih" + layer, 0, row) + at(name + ".bias_hh" + layer, 0, row);
    for (size_t i = 0; i < x.size(); ++i)
      z += at(name + ".weight_ih" + layer, row, static_cast<int64_t>(i)) * x[i];
    return z;
  }
  double Uh(int64_t row, const Numbers& h) const {
    double z = 0;
    for (size_t i = 0; i < h.size(); ++i)
      z += at(name + ".weight_hh" + layer, row, static_cast<int64_t>(i)) * h[i];
    return z;
  }
  /// (1)-(4), and with x = [x ; h_i] (5)-(8), where this z is the paper's 1 - z: rows of r, z, n.
  Numbers step(const Numbers& x, const Numbers& h) const {
    const auto sigmoid = [](double it) { return 1 / (1 + std::exp(-it)); };
    Numbers filtered, next;
    for (int64_t j = 0; j < H; ++j)
      filtered.push_back(sigmoid(Wx(j, x) + Uh(j, h)) * h[static_cast<size_t>(j)]);
    for (int64_t j = 0; j < H; ++j) {
      const double z = sigmoid(Wx(H + j, x) + Uh(H + j, h));
      const double n = std::tanh(Wx(2 * H + j, x) + Uh(2 * H + j, filtered));
      next.push_back(z * h[static_cast<size_t>(j)] + (1 - z) * n);
    }
    return next;
  }
};

struct PlainSkip {
  const SkipThought& model;
  std::string prefix;  // of names of parameters
  bool bidirectional;

  Numbers word(int32_t id) const {
    Numbers x;
    const Tensor table = value_of(model, prefix + "embedding.weight");
    for (int64_t e = 0; e < E; ++e) x.push_back(table.data()[place_of(table, id * E + e)]);
    return x;
  }
  Numbers vector_of(const Ids& sentence) const {
    const int64_t H = bidirectional ? model.options().hidden / 2 : model.options().hidden;
    Numbers h(static_cast<size_t>(H), 0.0), reverse = h;
    const PlainGru forward{model, prefix + "encoder", "_l0", H},
        backward{model, prefix + "encoder", "_l0_reverse", H};
    for (size_t t = 0; t < sentence.size(); ++t) {
      h = forward.step(word(sentence[t]), h);
      if (bidirectional) reverse = backward.step(word(sentence[sentence.size() - 1 - t]), reverse);
    }
    if (bidirectional) h.insert(h.end(), reverse.begin(), reverse.end());
    return h;
  }
  /// -sum_t log p(w_t | w_<t, vector): (9).
  double nats(const std::string& decoder, const Ids& sentence, const Numbers& vector) const {
    const SkipContext context = model.options().context;
    const PlainGru gru{model, prefix + decoder, "_l0", model.options().hidden};
    Numbers h(vector.size(), 0.0);
    if (context != SkipContext::gates) h = vector;
    double sum = 0;
    for (size_t t = 0; t < sentence.size(); ++t) {
      Numbers x = t == 0 ? Numbers(E, 0.0) : word(sentence[t - 1]);
      if (context != SkipContext::first_state) x.insert(x.end(), vector.begin(), vector.end());
      h = gru.step(x, h);
      double total = 0, of_target = 0;
      for (int32_t v = 0; v < V; ++v) {
        double z = gru.at(prefix + "output.bias", 0, v);
        for (size_t j = 0; j < h.size(); ++j)
          z += gru.at(prefix + "output.weight", v, static_cast<int64_t>(j)) * h[j];
        total += std::exp(z);
        if (v == sentence[t]) of_target = z;
      }
      sum += std::log(total) - of_target;
    }
    return sum;
  }
};

const SkipEncoder encoders[] = {SkipEncoder::uni, SkipEncoder::bi, SkipEncoder::combine};
const SkipContext contexts[] = {SkipContext::gates, SkipContext::first_state, SkipContext::both};

TEST(SkipThought, IsThatOfPlainLoops) {
  for (const SkipEncoder encoder : encoders)
    for (const SkipContext context : contexts) {
      SkipThought model(options_of(encoder, context), V);
      const std::vector<PlainSkip> parts =
          encoder == SkipEncoder::combine
              ? std::vector<PlainSkip>{{model, "uni.", false}, {model, "bi.", true}}
              : std::vector<PlainSkip>{{model, "", encoder == SkipEncoder::bi}};
      const std::vector<real> vectors = model.encode(batch_of(middles, 6, 3)).value().to_vector();
      ASSERT_EQ(std::ssize(vectors), std::ssize(middles) * model.width());
      double expected = 0;
      auto next = vectors.begin();
      for (size_t b = 0; b < middles.size(); ++b)
        for (const PlainSkip& part : parts) {
          const Numbers vector = part.vector_of(middles[b]);
          for (const double it : vector) EXPECT_NEAR(*next++, it, 1e-12) << name_of(encoder);
          expected += part.nats("previous", others[b], vector) + part.nats("next", middles[b], vector);
        }
      EXPECT_NEAR(loss_of(model).value().item(), expected, 1e-11) << name_of(encoder) << name_of(context);
    }
}

TEST(SkipThought, GradientsOfAllParameters) {
  std::vector<SkipThoughtOptions> all = {options_of(SkipEncoder::uni, SkipContext::gates, "mi_gru"),
                                         options_of(SkipEncoder::bi, SkipContext::both, "lstm"),
                                         options_of(SkipEncoder::combine, SkipContext::gates)};
  all[1].decoder_cell = "mi_gru";
  all[1].trained_initial_states = true;
  for (SkipThoughtOptions& options : all) {
    options.embedding = options.hidden = 2;
    SkipThought model(options, V);
    const GradientCheck result = check_gradients(model, [&] { return loss_of(model); });
    EXPECT_TRUE(result.passed) << options.cell << ": " << result.worst;
  }
}

// In the loss and in all gradients; a cell that compares rows has to be told where sentences end.
TEST(SkipThought, PaddingHasNoInfluence) {
  for (const std::string cell : {"gru", "bn_lstm"}) {
    SkipThoughtOptions options = options_of(SkipEncoder::combine, SkipContext::gates, cell);
    options.decoder_cell = cell;
    SkipThought model(options, V);
    model.set_training(true);
    const auto gradients = [&](int64_t steps, int32_t padding) {
      return gradients_and_loss(model, 3, [&] { return loss_of(model, steps, padding); });
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
