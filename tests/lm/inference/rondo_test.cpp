// The C API: the same figures and texts as those of `lm`, and what misuse comes to. The C program of
// tests/installed, too, so that sanitizers see it.
#include "lm/inference/rondo.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/installed/inference/misuse.c"  // NOLINT(bugprone-suspicious-include)
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class RondoTest : public SmallRunTest {
 protected:
  RondoTest() { fs::copy(*data / "run", copy_ / "run"); }

  const std::string run_ = data->path("run");
  const TemporaryFolder copy_;
  rondo_model* const model_ = rondo_open(run_.c_str());

  std::vector<int32_t> ids_of(const std::string& text) const {
    std::vector<int32_t> ids(1000);
    const int64_t count = rondo_encode(model_, text.data(), text.size(), ids.data(), ids.size());
    EXPECT_GE(count, 0) << rondo_last_error();
    ids.resize(static_cast<std::size_t>(count));
    return ids;
  }
  std::vector<float> probabilities(const rondo_state* state) const {
    std::vector<float> p(static_cast<std::size_t>(rondo_vocabulary_size(model_)));
    EXPECT_EQ(rondo_probabilities(state, p.data(), p.size()), 0) << rondo_last_error();
    return p;
  }
};

TEST_F(RondoTest, ScoresAsLmDoes) {
  ASSERT_NE(model_, nullptr) << rondo_last_error();
  std::string line;
  for (int i = 0; i < 100; ++i) line += i % 3 == 0 ? "the cat " : "sat ";  // longer than a piece that is read
  const std::vector<int32_t> ids = ids_of(line + "\n");
  rondo_state* const begin = rondo_begin(model_);
  const double nats = rondo_score(begin, ids.data(), ids.size());
  const Result scored =
      run_lm_well({"score", run_, "--json-lines"}, {.input = Json{{"text", line}}.dump() + "\n"});
  EXPECT_NEAR(nats, -Json::parse(scored.out)["log_probability"].get<double>(), 1e-5 * nats);

  // Symbol by symbol, and by the probabilities, which add up to 1.
  rondo_state* const state = rondo_begin(model_);
  double sum = 0, of_probabilities = 0;
  for (const int32_t id : ids) {
    const std::vector<float> p = probabilities(state);
    double all = 0;
    for (const float it : p) all += it;
    EXPECT_NEAR(all, 1, 1e-5);
    of_probabilities -= std::log(p[static_cast<std::size_t>(id)]);
    sum += rondo_score(state, &id, 1);
    ASSERT_EQ(rondo_feed(state, &id, 1), 0);
  }
  EXPECT_NEAR(sum, nats, 1e-5 * nats);
  EXPECT_NEAR(of_probabilities, nats, 1e-5 * nats);
  ASSERT_EQ(rondo_feed(begin, ids.data(), ids.size()), 0);  // at once
  const std::vector<float> one = probabilities(begin), other = probabilities(state);
  for (std::size_t id = 0; id < one.size(); ++id) EXPECT_NEAR(one[id], other[id], 1e-6);
  EXPECT_EQ(rondo_end(begin) | rondo_end(state) | rondo_close(model_), 0);
}

TEST_F(RondoTest, WritesAsLmDoes) {
  const std::string prompt = "the cat";
  const std::vector<int32_t> ids = ids_of(prompt);
  rondo_state* const state = rondo_begin(model_);
  ASSERT_EQ(rondo_feed(state, ids.data(), ids.size()), 0);
  std::array<char, 1000> text{};
  for (const double temperature : {0.0, 0.7, 1.0}) {
    rondo_sampling how{
        .temperature = temperature, .top_k = 0, .top_p = 0, .seed = 3, .allow_unknown = 0, .stop = nullptr};
    const int64_t length = rondo_generate(state, 30, &how, text.data(), text.size());
    EXPECT_EQ(length, static_cast<int64_t>(std::strlen(text.data())));
    const Json request{{"prompt", prompt}, {"n", 30}, {"temperature", temperature}, {"seed", 3}};
    const Result answer = run_lm_well({"generate", run_, "--json-lines"}, {.input = request.dump() + "\n"});
    EXPECT_EQ(text.data(), Json::parse(answer.out)["candidates"][0]["text"].get<std::string>());
    const std::string whole = text.data(), word = whole.substr(whole.size() / 2, 4);
    how.stop = word.c_str();
    ASSERT_GE(rondo_generate(state, 30, &how, text.data(), text.size()), 0);
    EXPECT_EQ(text.data(), whole.substr(0, whole.find(word)));
  }
  EXPECT_EQ(rondo_end(state) | rondo_close(model_), 0);
}

TEST_F(RondoTest, KnowsItsSymbols) {
  const Words lines = lines_in(read_file(*data / "run/vocab.txt"));
  ASSERT_EQ(rondo_vocabulary_size(model_), std::ssize(lines));
  for (int32_t id = 0; id < std::ssize(lines); ++id) {
    size_t length = 0;
    EXPECT_EQ(rondo_symbol(model_, id, &length), lines[static_cast<std::size_t>(id)]);
    EXPECT_EQ(length, lines[static_cast<std::size_t>(id)].size());
    EXPECT_EQ(rondo_id(model_, rondo_symbol(model_, id, nullptr), length), id);
  }
  std::array<int32_t, 3> some = {-7, -7, -7};
  EXPECT_EQ(rondo_encode(model_, "the cat sat", 11, some.data(), 2), 3) << "all are counted";
  EXPECT_EQ(some[2], -7) << "and no more written than there is room for";
  EXPECT_EQ(rondo_close(model_), 0);
}

TEST_F(RondoTest, RefusesMisuse) {
  EXPECT_EQ(misuse(run_.c_str(), (copy_ / "run").c_str()), 0);
  EXPECT_EQ(rondo_close(model_), 0);
}

}  // namespace
}  // namespace rondo
