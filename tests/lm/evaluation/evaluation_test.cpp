// How a text is read: lm/evaluation/evaluation.h.
#include "lm/evaluation/evaluation.h"

#include <gtest/gtest.h>

#include "tests/lm/training/small_training.h"

namespace rondo {
namespace {

/// With initial values so large that losses differ.
LanguageModelOptions options_of_model() {
  LanguageModelOptions it;
  it.embedding = 6;
  it.hidden = {6, 5};
  it.embedding_init.range = 1;
  it.recurrent_init = {InitialValues::Kind::uniform, 1};
  return it;
}

class EvaluationTest : public testing::Test {
 protected:
  EvaluationTest() : model(options_of_model(), 11) {}
  /// Of a text by itself: its first symbol is context only.
  Evaluation alone(const std::vector<int32_t>& ids) { return evaluate_ids(model, ids, {}); }

  LanguageModel model;
};

TEST_F(EvaluationTest, SequencesAreTextsOfTheirOwn) {
  const std::vector<int32_t> ids = some_ids(1000);
  double nats = 0;
  for (size_t begin = 0; begin + 1 < ids.size(); begin += 30) {
    const size_t end = std::min(begin + 31, ids.size());
    nats += alone({ids.begin() + begin, ids.begin() + end}).nats_sum;
  }
  const Evaluation it = evaluate_ids(model, ids, {.sequence = 30});
  EXPECT_EQ(it.symbols, 999);
  EXPECT_NEAR(it.nats_sum, nats, 1e-5 * nats);
  EXPECT_NE(it.nats_sum, alone(ids).nats_sum);
}

TEST_F(EvaluationTest, LinesAreTextsOfTheirOwn) {
  const int32_t line_end = 10;
  std::vector<int32_t> ids;
  double nats = 0;
  for (int line = 0; line < 70; ++line) {  // of 0 to 49 symbols
    std::vector<int32_t> text(static_cast<size_t>(line * 37 % 50), line % 10);
    text.push_back(line_end);
    ids.insert(ids.end(), text.begin(), text.end());
    text.insert(text.begin(), line_end);
    nats += alone(text).nats_sum;
  }
  const Evaluation it = evaluate_ids(model, ids, {.line_end = line_end});
  EXPECT_EQ(it.symbols, std::ssize(ids));
  EXPECT_NEAR(it.nats_sum, nats, 1e-5 * nats);
}

// 199 targets and two times 10 before are three times 73.
TEST_F(EvaluationTest, AStreamAfterAWarmUpIsReadFromEarlierOn) {
  const std::vector<int32_t> ids = some_ids(200);
  double nats = 0;
  for (int64_t stream = 0; stream < 3; ++stream) {
    const auto begin = ids.begin() + stream * 63;
    nats += alone({begin, begin + 74}).nats_sum;
    if (stream > 0) nats -= alone({begin, begin + 11}).nats_sum;
  }
  const Evaluation it = evaluate_ids(model, ids, {.streams = 3, .warm_up = 10});
  EXPECT_EQ(it.symbols, 199);
  EXPECT_NEAR(it.nats_sum, nats, 1e-5 * nats);
  EXPECT_GT(std::abs(it.nats_sum - evaluate_ids(model, ids, {.streams = 3}).nats_sum), 1e-4 * nats);
  EXPECT_EQ(evaluation_reading({}, 1, 10, {}, false).warm_up, 0) << "no stream has another before it";
}

TEST(Reading, SaysHow) {
  EXPECT_EQ(Reading{}.text(), "one stream");
  EXPECT_EQ((Reading{.streams = 10}.text()), "10 streams");
  EXPECT_EQ((Reading{.streams = 64, .warm_up = 200}.text()), "64 streams, 200 symbols before each");
  EXPECT_EQ((Reading{.line_end = 3}.text()), "lines from a zero state");
  EXPECT_EQ((Reading{.sequence = 200}.text()), "sequences of 200 from a zero state");
  EXPECT_EQ((Reading{.line_end = 3, .trained_initial_states = true}.text()),
            "lines from the trained initial state");
}

}  // namespace
}  // namespace rondo
