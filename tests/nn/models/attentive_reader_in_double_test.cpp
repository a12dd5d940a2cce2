// The attentive reader: attention and output against plain loops written from the equations of Hermann et al.
// 2015 (section 3) and, for batch normalisation, Cooijmans et al. 2016 (section 5.4); its gradients; and
// padding.
#include "nn/models/attentive_reader.h"

#include "tests/nn/models/plain_model.h"

namespace rondo {
namespace {

constexpr int64_t words = 8, entities = 3, width = 4, texts = 4;

AttentiveReaderOptions reader_options(const std::string& cell = "rnn") {
  AttentiveReaderOptions options;
  set(options, "embedding=3 hidden=4 init_all=0.8");  // large enough that nothing is nearly linear
  options.cell = cell;
  return options;
}

const std::vector<std::vector<int32_t>> documents = {{1, 4, 2, 5, 6}, {3, 7, 1}, {2, 2, 6, 0}, {5}},
                                        asked = {{2, 3}, {6, 1, 5}, {4}, {7, 0, 3}};

/// gamma (x - mean) / sqrt(variance + 1e-5) of each column, over all given rows.
Rows normalized(const Rows& rows, const Vector& gamma) {
  const auto count = static_cast<double>(rows.size());
  Rows result = rows;
  for (size_t i = 0; i < rows.front().size(); ++i) {
    Number mean = 0, variance = 0;
    for (const Vector& row : rows) mean += row[i] / count;
    for (const Vector& row : rows) variance += (row[i] - mean) * (row[i] - mean) / count;
    for (Vector& row : result) row[i] = gamma[i] * (row[i] - mean) / std::sqrt(variance + 1e-5);
  }
  return result;
}

struct PlainAnswer {
  Vector attention, logits;
};
/// Of all questions, since batch normalisation is over all of them.
std::vector<PlainAnswer> plain_answers(const AttentiveReaderOptions& options, const Parameters& parameters) {
  const PlainModel model(parameters);
  const bool normalizes = options.batch_norm_attention;
  const auto terms = [&](const Rows& rows, const std::string& gamma) {
    return normalizes ? normalized(rows, model.at(gamma)) : rows;
  };
  const auto tanh_of_sum = [&](Vector u, const Vector& more, const std::string& shift) {
    for (size_t i = 0; i < u.size(); ++i) u[i] += more[i] + (normalizes ? model.at(shift)[i] : 0);
    return tanh_of(u);
  };
  const auto read = [&](const std::string& stack, const std::vector<int32_t>& text) {
    return model.read({stack, options.cell, 1, options.hidden, true},
                      model.rows_of("embedding.weight", text, options.embedding));
  };

  std::vector<Rows> y;
  Rows of_y, of_u, of_r, of_ug;  // of_y: all steps of all documents
  for (size_t text = 0; text < texts; ++text) {
    y.push_back(read("document", documents[text]).first);
    const Vector u = read("question", asked[text]).second[0].h;  // forward h_|q| ; reverse h_1
    for (const Vector& y_t : y.back()) of_y.push_back(model.product("attention.U_a", y_t));
    of_u.push_back(model.product("attention.W_a", u));
    of_ug.push_back(model.product("W_ug", u));
  }
  of_y = terms(of_y, "attention.gamma_U_a");
  of_u = terms(of_u, "attention.gamma_W_a");

  std::vector<PlainAnswer> answers(texts);
  auto next = of_y.begin();
  for (size_t text = 0; text < texts; ++text) {
    Vector scores, r(width);
    for (size_t t = 0; t < y[text].size(); ++t)
      scores.push_back(model.product("attention.v_a", tanh_of_sum(*next++, of_u[text], "attention.b_a"))[0]);
    for (const Number& log_p : log_softmax_of(scores)) answers[text].attention.push_back(std::exp(log_p));
    for (size_t t = 0; t < y[text].size(); ++t)
      for (size_t i = 0; i < r.size(); ++i) r[i] += answers[text].attention[t] * y[text][t][i];
    of_r.push_back(model.product("W_rg", r));
  }
  of_r = terms(of_r, "gamma_rg");
  of_ug = terms(of_ug, "gamma_ug");
  for (size_t text = 0; text < texts; ++text)
    answers[text].logits =
        model.product("output.weight", tanh_of_sum(of_r[text], of_ug[text], "b_g"), "output.bias");
  return answers;
}

void expect_answers(const AttentiveReader& model, const AttentiveReader::Output& output,
                    const std::vector<PlainAnswer>& expected) {
  const std::vector<real> weights = output.attention.value().to_vector(),
                          logits = model.logits(output.joint).value().to_vector();
  for (size_t b = 0; b < texts; ++b) {
    const Vector& attention = expected[b].attention;
    for (size_t t = 0; t < 5; ++t)
      EXPECT_NEAR(weights[b * 5 + t], t < attention.size() ? attention[t].real() : 0, 1e-12);
    for (size_t a = 0; a < entities; ++a)
      EXPECT_NEAR(logits[b * entities + a], expected[b].logits[a].real(), 1e-12);
  }
}

AttentiveReader::Output read_all(AttentiveReader& model, int32_t padding = 0) {
  return model(batch_of(documents, 5, padding), batch_of(asked, 3, padding));
}

TEST(AttentiveReader, IsItsEquations) {
  const std::vector<int32_t> right = {2, 0, 1, 1};
  for (const std::string cell : {"rnn", "lstm", "mi_lstm"})
    for (const bool more : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", cell, more));
      AttentiveReaderOptions options = reader_options(cell);
      options.batch_norm_attention = options.trained_initial_states = more;
      AttentiveReader model(options, words, entities, 3);
      model.set_training(true);
      const AttentiveReader::Output output = read_all(model, 7);
      expect_answers(model, output, plain_answers(options, parameters_of(model)));
      expect_plain_loss(model, model.cross_entropy(output.joint, tokens(right)).total,
                        [&](const Parameters& moved) {
                          Number sum = 0;
                          const std::vector<PlainAnswer> answers = plain_answers(options, moved);
                          for (size_t b = 0; b < texts; ++b)
                            sum -= log_softmax_of(answers[b].logits)[static_cast<size_t>(right[b])];
                          return sum;
                        });
    }
}

TEST(AttentiveReader, NormalizesEachTermOfTheAttentionOverAllThatIsNotPadding) {
  AttentiveReaderOptions options = reader_options();
  options.batch_norm_attention = true;
  AttentiveReader model(options, words, entities, 3);
  const std::vector<PlainAnswer> expected = plain_answers(options, parameters_of(model));
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
  for (size_t a = 0; a < entities; ++a) EXPECT_NEAR(first[a], expected[0].logits[a].real(), 1e-12);
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

}  // namespace
}  // namespace rondo
