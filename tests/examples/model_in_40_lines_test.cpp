// The language model in 40 lines of README.md: the library without `lm`, and a test that the model learns.
// lm/commands/training.cpp also measures and saves.
#include <gtest/gtest.h>

#include <algorithm>

#include "data/text/streams.h"
#include "data/text/vocabulary.h"
#include "nn/models/language_model.h"
#include "optim/optimizer.h"
#include "optim/step_control.h"

using namespace rondo;

/// Reads a text `epochs` times, then writes `length` characters in its style.
std::string read_then_write(const std::string& book, int epochs, int length) {
  // From text to ids.
  const Text text = clean_text(book, "the book", Unit::characters);
  const Vocabulary vocabulary(text, {.unit = Unit::characters});
  const std::vector<int32_t> ids = vocabulary.encode(text).ids;

  // Training: 8 pieces of the text side by side, 32 steps at a time.
  LanguageModelOptions options;  // the default cell is an LSTM
  options.hidden = {64};
  LanguageModel model(options, vocabulary.size());
  const auto adam =
      make_optimizer({.kind = OptimizerKind::adam, .learning_rate = 0.01}, model.values(), model.gradients());
  Streams streams = Streams::for_training(ids, 8);
  Chunk chunk;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::vector<State> states = model.initial_states(streams.streams());
    streams.seek(0);
    while (streams.next(32, chunk)) {
      const auto [output, next] = model.forward({tokens(chunk.inputs), chunk.steps, chunk.streams}, states);
      adam->zero_gradients();
      (model.cross_entropy(output, tokens(chunk.targets)).total / chunk.scored).backward();
      clip_gradient_norm(model.gradients(), 1);
      adam->step(adam->learning_rate());
      states = detached(next);  // keep the state, drop its history
    }
  }

  // Writing: the most probable character each time.
  const NoGradient no_history;
  std::vector<int32_t> written = {ids[0]};
  std::vector<State> states = model.initial_states(1);
  while (std::ssize(written) < length) {
    const auto [output, next] = model.forward({tokens({written.back()}), 1, 1}, states);
    const std::vector<real> scores = model.logits(output).value().to_vector();
    written.push_back(static_cast<int32_t>(std::ranges::max_element(scores) - scores.begin()));
    states = next;
  }
  return vocabulary.decode(written);
}

namespace {

TEST(ExampleLanguageModel, LearnsARhymeByHeart) {
  const std::string rhyme = "a rondo is a round: its theme comes back, and back, and back.\n";
  std::string book;
  for (int i = 0; i < 60; ++i) book += rhyme;
  EXPECT_EQ(read_then_write(book, 12, 2 * static_cast<int>(rhyme.size())), rhyme + rhyme);
}

}  // namespace
