// The attentive reader: attention and output against plain loops written from the equations of Hermann et al.
// 2015 (section 3), given the states of its stacks; its gradients; and padding.
#include "nn/models/attentive_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/gradient_check.h"
#include "tests/nn/parameters.h"

namespace rondo {
namespace {

using Numbers = std::vector<double>;

constexpr int64_t words = 8, entities = 3, width = 4, texts = 2;

AttentiveReaderOptions reader_options(const std::string& cell = "rnn") {
  AttentiveReaderOptions options;
  options.cell = cell;
  options.embedding = 3;
  options.hidden = width;
  options.init_all = 0.8;  // large enough that nothing is nearly linear
  return options;
}

const std::vector<std::vector<int32_t>> documents = {{1, 4, 2, 5, 6}, {3, 7, 1}}, asked = {{2, 3}, {6, 1, 5}};

/// Texts as a batch of `steps`; behind their ends stands the symbol `padding`.
AttentiveReader::Input batch_of(const std::vector<std::vector<int32_t>>& all, int64_t steps,
                                int32_t padding) {
  std::vector<int32_t> ids;
  Lengths lengths;
  for (int64_t t = 0; t < steps; ++t)
    for (const auto& text : all) ids.push_back(t < std::ssize(text) ? text[static_cast<size_t>(t)] : padding);
  for (const auto& text : all) lengths.push_back(std::ssize(text));
  return {tokens(ids), steps, std::ssize(all), lengths};
}

/// A weight by row and column; a vector is a row.
struct Weight {
  Weight(const Module& model, const std::string& name)
      : columns(value_of(model, name).columns()), values(value_of(model, name).to_vector()) {}
  double operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * columns + j)]; }
  /// Row i times x.
  double row(int64_t i, const Numbers& x) const {
    double sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += (*this)(i, j) * x[static_cast<size_t>(j)];
    return sum;
  }
  int64_t columns;
  std::vector<real> values;
};

/// [forward ; reverse] states of an RNN at all steps: h_t = tanh(W E w_t + U h_(t-1) + b).
std::vector<Numbers> plain_states(const Module& model, const std::string& stack,
                                  const std::vector<int32_t>& text) {
  const int64_t H = width / 2;
  std::vector<Numbers> all(text.size());
  for (const std::string direction : {"", "_reverse"}) {
    const Weight E(model, "embedding.weight"), W(model, stack + ".weight_ih_l0" + direction),
        U(model, stack + ".weight_hh_l0" + direction);
    std::vector<Weight> biases;
    for (const char* name : {".bias_l0", ".bias_ih_l0", ".bias_hh_l0"})
      if (has_parameter(model, stack + name + direction))
        biases.emplace_back(model, stack + name + direction);
    Numbers h(static_cast<size_t>(H), 0.0);
    for (size_t step = 0; step < text.size(); ++step) {
      const size_t t = direction.empty() ? step : text.size() - 1 - step;
      Numbers x, next;
      for (int64_t j = 0; j < E.columns; ++j) x.push_back(E(text[t], j));
      for (int64_t i = 0; i < H; ++i) {
        double z = W.row(i, x) + U.row(i, h);
        for (const Weight& b : biases) z += b(0, i);
        next.push_back(std::tanh(z));
      }
      h = next;
      all[t].insert(all[t].end(), h.begin(), h.end());
    }
  }
  return all;
}

struct PlainAnswer {
  Numbers attention, logits;
};
PlainAnswer plain_answer(const Module& model, size_t text) {
  const Weight W_um(model, "attention.W_a"), W_ym(model, "attention.U_a"), w_ms(model, "attention.v_a"),
      W_rg(model, "W_rg"), W_ug(model, "W_ug"), W_a(model, "output.weight"), b(model, "output.bias");
  const std::vector<Numbers> y = plain_states(model, "document", documents[text]),
                             q = plain_states(model, "question", asked[text]);
  Numbers u(q.back().begin(), q.back().begin() + width / 2);  // forward h_|q| ; reverse h_1
  u.insert(u.end(), q.front().begin() + width / 2, q.front().end());
  PlainAnswer answer;
  double sum = 0;
  for (const Numbers& y_t : y) {
    double score = 0;
    for (int64_t i = 0; i < width; ++i) score += w_ms(0, i) * std::tanh(W_ym.row(i, y_t) + W_um.row(i, u));
    answer.attention.push_back(std::exp(score));
    sum += answer.attention.back();
  }
  Numbers r(static_cast<size_t>(width), 0.0), g;
  for (size_t t = 0; t < y.size(); ++t) {
    answer.attention[t] /= sum;
    for (size_t i = 0; i < r.size(); ++i) r[i] += answer.attention[t] * y[t][i];
  }
  for (int64_t i = 0; i < width; ++i) g.push_back(std::tanh(W_rg.row(i, r) + W_ug.row(i, u)));
  for (int64_t a = 0; a < entities; ++a) answer.logits.push_back(W_a.row(a, g) + b(0, a));
  return answer;
}

TEST(AttentiveReader, IsItsEquations) {
  AttentiveReader model(reader_options(), words, entities, 3);
  const auto [joint, attention] = model(batch_of(documents, 5, 0), batch_of(asked, 3, 0));
  const std::vector<real> weights = attention.value().to_vector(),
                          logits = model.logits(joint).value().to_vector();
  for (size_t b = 0; b < texts; ++b) {
    const PlainAnswer expected = plain_answer(model, b);
    for (size_t t = 0; t < 5; ++t)
      EXPECT_NEAR(weights[b * 5 + t], t < expected.attention.size() ? expected.attention[t] : 0, 1e-12);
    for (size_t a = 0; a < entities; ++a) EXPECT_NEAR(logits[b * entities + a], expected.logits[a], 1e-12);
  }
}

TEST(AttentiveReader, GradientsOfAllParameters) {
  for (const char* cell : {"lstm", "mi_lstm"}) {
    AttentiveReader model(reader_options(cell), words, entities, 3);
    const auto loss = [&] {
      return model
          .cross_entropy(model(batch_of(documents, 5, 0), batch_of(asked, 3, 0)).joint, tokens({2, 0}))
          .total;
    };
    const GradientCheck result = check_gradients(model, loss);
    EXPECT_TRUE(result.passed) << cell << ": " << result.worst;
  }
}

TEST(AttentiveReader, PaddingHasNoEffect) {
  AttentiveReader model(reader_options("lstm"), words, entities, 3);
  const auto logits = [&](int64_t steps, int32_t padding) {
    return model
        .logits(model(batch_of(documents, 5 + steps, padding), batch_of(asked, 3 + steps, padding)).joint)
        .value()
        .to_vector();
  };
  EXPECT_EQ(logits(0, 0), logits(2, 7));
}

}  // namespace
}  // namespace rondo
