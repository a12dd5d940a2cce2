// The attentive reader: attention and output against plain loops written from the equations of Hermann et al.
// 2015 (section 3) and, for batch normalisation, Cooijmans et al. 2016 (section 5.4); its gradients; and
// padding.
#include "nn/models/attentive_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/gradient_check.h"
#include "tests/nn/models/plain_stack.h"

namespace rondo {
namespace {

constexpr int64_t words = 8, entities = 3, width = 4, texts = 4;

AttentiveReaderOptions reader_options(const std::string& cell = "rnn") {
  AttentiveReaderOptions options;
  options.cell = cell;
  options.embedding = 3;
  options.hidden = width;
  options.init_all = 0.8;  // large enough that nothing is nearly linear
  return options;
}

const std::vector<std::vector<int32_t>> documents = {{1, 4, 2, 5, 6}, {3, 7, 1}, {2, 2, 6, 0}, {5}},
                                        asked = {{2, 3}, {6, 1, 5}, {4}, {7, 0, 3}};

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
  int64_t rows() const { return std::ssize(values) / columns; }
  int64_t columns;
  std::vector<real> values;
};

/// [forward ; reverse] states of an RNN at all steps.
std::vector<Numbers> plain_states(const AttentiveReader& model, const std::string& stack,
                                  const std::vector<int32_t>& text) {
  const Weights weight{model};
  return plain_stack(weight, model.options(), 1, plain_embedding(weight, text, model.options().embedding),
                     stack);
}

Numbers product(const Weight& W, const Numbers& x) {
  Numbers result;
  for (int64_t i = 0; i < W.rows(); ++i) result.push_back(W.row(i, x));
  return result;
}

/// gamma (x - mean) / sqrt(variance + 1e-5) of each column, over all given rows.
std::vector<Numbers> normalized(const std::vector<Numbers>& rows, const Weight& gamma) {
  const auto count = static_cast<double>(rows.size());
  std::vector<Numbers> result = rows;
  for (size_t i = 0; i < rows.front().size(); ++i) {
    double mean = 0, variance = 0;
    for (const Numbers& row : rows) mean += row[i] / count;
    for (const Numbers& row : rows) variance += (row[i] - mean) * (row[i] - mean) / count;
    for (Numbers& row : result)
      row[i] = gamma(0, static_cast<int64_t>(i)) * (row[i] - mean) / std::sqrt(variance + 1e-5);
  }
  return result;
}

struct PlainAnswer {
  Numbers attention, logits;
};
/// Of all questions, since batch normalisation is over all of them.
std::vector<PlainAnswer> plain_answers(const AttentiveReader& model) {
  const Weight W_um(model, "attention.W_a"), W_ym(model, "attention.U_a"), w_ms(model, "attention.v_a"),
      W_rg(model, "W_rg"), W_ug(model, "W_ug"), W_a(model, "output.weight"), b(model, "output.bias");
  const bool normalizes = has_parameter(model, "b_g");
  const auto terms = [&](const std::vector<Numbers>& rows, const std::string& gamma) {
    return normalizes ? normalized(rows, Weight(model, gamma)) : rows;
  };
  const auto shift = [&](const std::string& name, int64_t i) {
    return normalizes ? Weight(model, name)(0, i) : 0;
  };

  std::vector<std::vector<Numbers>> y;
  std::vector<Numbers> u, of_y, of_u, r, of_r, of_ug;  // of_y: all steps of all documents
  for (size_t text = 0; text < texts; ++text) {
    y.push_back(plain_states(model, "document", documents[text]));
    const std::vector<Numbers> q = plain_states(model, "question", asked[text]);
    u.emplace_back(q.back().begin(), q.back().begin() + width / 2);  // forward h_|q| ; reverse h_1
    u.back().insert(u.back().end(), q.front().begin() + width / 2, q.front().end());
    for (const Numbers& y_t : y.back()) of_y.push_back(product(W_ym, y_t));
    of_u.push_back(product(W_um, u.back()));
    of_ug.push_back(product(W_ug, u.back()));
  }
  of_y = terms(of_y, "attention.gamma_U_a");
  of_u = terms(of_u, "attention.gamma_W_a");

  std::vector<PlainAnswer> answers(texts);
  size_t next = 0;  // of of_y
  for (size_t text = 0; text < texts; ++text) {
    Numbers& attention = answers[text].attention;
    double sum = 0;
    for (size_t t = 0; t < y[text].size(); ++t, ++next) {
      double score = 0;
      for (int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<size_t>(i);
        score += w_ms(0, i) * std::tanh(of_y[next][at] + of_u[text][at] + shift("attention.b_a", i));
      }
      attention.push_back(std::exp(score));
      sum += attention.back();
    }
    r.emplace_back(static_cast<size_t>(width), 0.0);
    for (size_t t = 0; t < y[text].size(); ++t) {
      attention[t] /= sum;
      for (size_t i = 0; i < r.back().size(); ++i) r.back()[i] += attention[t] * y[text][t][i];
    }
    of_r.push_back(product(W_rg, r.back()));
  }
  of_r = terms(of_r, "gamma_rg");
  of_ug = terms(of_ug, "gamma_ug");
  for (size_t text = 0; text < texts; ++text) {
    Numbers g;
    for (int64_t i = 0; i < width; ++i) {
      const auto at = static_cast<size_t>(i);
      g.push_back(std::tanh(of_r[text][at] + of_ug[text][at] + shift("b_g", i)));
    }
    for (int64_t a = 0; a < entities; ++a) answers[text].logits.push_back(W_a.row(a, g) + b(0, a));
  }
  return answers;
}

void expect_answers(const AttentiveReader& model, const AttentiveReader::Output& output,
                    const std::vector<PlainAnswer>& expected) {
  const std::vector<real> weights = output.attention.value().to_vector(),
                          logits = model.logits(output.joint).value().to_vector();
  for (size_t b = 0; b < texts; ++b) {
    const Numbers& attention = expected[b].attention;
    for (size_t t = 0; t < 5; ++t)
      EXPECT_NEAR(weights[b * 5 + t], t < attention.size() ? attention[t] : 0, 1e-12);
    for (size_t a = 0; a < entities; ++a) EXPECT_NEAR(logits[b * entities + a], expected[b].logits[a], 1e-12);
  }
}

AttentiveReader::Output read_all(AttentiveReader& model, int32_t padding = 0) {
  return model(batch_of(documents, 5, padding), batch_of(asked, 3, padding));
}

TEST(AttentiveReader, IsItsEquations) {
  for (const bool trained_states : {false, true}) {
    AttentiveReaderOptions options = reader_options();
    options.trained_initial_states = trained_states;
    AttentiveReader model(options, words, entities, 3);
    expect_answers(model, read_all(model), plain_answers(model));
  }
}

TEST(AttentiveReader, NormalizesEachTermOfTheAttentionOverAllThatIsNotPadding) {
  AttentiveReaderOptions options = reader_options();
  options.batch_norm_attention = true;
  AttentiveReader model(options, words, entities, 3);
  const std::vector<PlainAnswer> expected = plain_answers(model);
  model.set_training(true);
  expect_answers(model, read_all(model, 7), expected);
  for (const Buffer* buffer : model.buffers())
    if (buffer->name().find("rows_seen") != std::string::npos) {
      EXPECT_EQ(buffer->tensor().item(), buffer->name() == "attention.rows_seen_U_a" ? 13 : 4);
    }

  // The population is what was read so far, here one batch; other questions beside a question change nothing.
  model.set_training(false);
  expect_answers(model, read_all(model), expected);
  const auto first = [&] {
    const auto output = model(batch_of({documents[0]}, 5, 0), batch_of({asked[0]}, 3, 0));
    return model.logits(output.joint).value().to_vector();
  }();
  for (size_t a = 0; a < entities; ++a) EXPECT_NEAR(first[a], expected[0].logits[a], 1e-12);
}

TEST(AttentiveReader, BeginsWithGammasOfATenth) {
  AttentiveReaderOptions options = reader_options("bn_lstm");
  options.init_all = 0;
  options.batch_norm_attention = options.trained_initial_states = true;
  const AttentiveReader model(options, words, entities, 3);
  int64_t gammas = 0, zeros = 0;
  for (const Segment& segment : model.segments()) {
    const bool is_gamma = segment.name.find("gamma_") != std::string::npos;
    const bool is_zero = segment.name.find("0_l0") != std::string::npos || segment.name == "b_g" ||
                         segment.name == "attention.b_a";
    gammas += is_gamma, zeros += is_zero;
    if (!is_gamma && !is_zero) continue;
    for (const real number : value_of(model, segment.name).to_vector())
      EXPECT_EQ(number, is_gamma ? real(0.1) : 0) << segment.name;
  }
  EXPECT_EQ(gammas, 2 * 2 * 3 + 4);  // of two texts in two directions, and of four terms
  EXPECT_EQ(zeros, 2 * 2 * 2 + 2);   // h0 and c0 of the same; and two biases
}

TEST(AttentiveReader, GradientsOfAllParameters) {
  for (const char* cell : {"lstm", "mi_lstm", "bn_mi_lstm"})
    for (const bool more : {false, true}) {
      AttentiveReaderOptions options = reader_options(cell);
      options.batch_norm_attention = options.trained_initial_states = more;
      AttentiveReader model(options, words, entities, 3);
      const bool bn_cell = traits_of(cell).looks_across_rows;
      model.set_training(!bn_cell);  // statistics of the last step's few rows are too steep
      const auto loss = [&] {
        return model.cross_entropy(read_all(model).joint, tokens({2, 0, 1, 1})).total;
      };
      const GradientCheck result = check_gradients(model, loss);
      EXPECT_TRUE(result.passed) << cell << " " << more << ": " << result.worst;
    }
}

TEST(AttentiveReader, PaddingHasNoEffect) {
  for (const bool training : {false, true}) {
    AttentiveReaderOptions options = reader_options("lstm");
    options.batch_norm_attention = training;
    AttentiveReader model(options, words, entities, 3);
    model.set_training(training);
    const auto logits = [&](int64_t steps, int32_t padding) {
      return model
          .logits(model(batch_of(documents, 5 + steps, padding), batch_of(asked, 3 + steps, padding)).joint)
          .value()
          .to_vector();
    };
    EXPECT_EQ(logits(0, 0), logits(2, 7));
  }
}

}  // namespace
}  // namespace rondo
