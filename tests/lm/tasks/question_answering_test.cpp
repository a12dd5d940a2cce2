// Question answering as a task: what is learned, the figure, its baselines.
#include "lm/tasks/question_answering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lm/training/trainer.h"

namespace rondo {
namespace {

/// "@entity2 met @entity0 ." and "@placeholder met @entity0 ." or "@entity2 met @placeholder .".
QuestionText meetings(int32_t count, uint64_t seed) {
  QuestionText text;
  uint64_t random = seed;
  const auto next = [&](uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((random >> 33) % below);
  };
  for (int32_t i = 0; i < count; ++i) {
    const int64_t first = next(4), second = (first + 1 + next(3)) % 4;
    const std::string who = entity_marker(first), whom = entity_marker(second);
    const bool asks_who = next(2) == 0;
    text.add(who + " met " + whom, asks_who ? "@placeholder met " + whom : who + " met @placeholder",
             asks_who ? who : whom, "");
  }
  return text;
}

struct Toy {
  QuestionText train_text = meetings(300, 1), valid_text = meetings(80, 2);
  Vocabulary vocabulary{text_for_vocabulary(train_text, 1), {.unit = Unit::words}};
  Questions train = encode_questions(train_text, vocabulary, 1000),
            valid = encode_questions(valid_text, vocabulary, 1000);
  AttentiveReader reader() const {
    AttentiveReaderOptions options;
    options.embedding = 8;
    options.hidden = 16;
    return AttentiveReader(options, vocabulary.size(), 4);
  }
};

TEST(QuestionAnswering, LearnsToReadTheAnswerInTheDocument) {
  const Toy toy;
  AttentiveReader model = toy.reader();
  QuestionAnswering task(model, {.batch = 20}, toy.train, toy.valid);
  EXPECT_EQ(task.scored_per_epoch(), 300);
  EXPECT_LT(task.evaluate().value(), 60);
  Trainer trainer(task, {.optimizer = {.kind = OptimizerKind::adam, .learning_rate = 0.02}});
  for (int epoch = 0; epoch < 12; ++epoch) {
    while (trainer.next_batch()) trainer.step();
    trainer.begin_next_epoch();
  }
  EXPECT_GE(task.evaluate().value(), 97);
}

// One question at a time.
TEST(QuestionAnswering, ScoresAndAnswersAreThoseOfSingleQuestions) {
  const Toy toy;
  AttentiveReader model = toy.reader();
  const Scores scores = evaluate_on(model, toy.valid);
  const std::vector<Answer> answers = most_probable_answers(model, toy.valid);
  ASSERT_EQ(answers.size(), 80u);
  int64_t correct = 0;
  double nats = 0;
  for (int64_t i = 0; i < toy.valid.size(); ++i) {
    const auto document = toy.valid.documents[i], question = toy.valid.questions[i];
    const auto [joint, attention] =
        model({tokens({document.begin(), document.end()}), std::ssize(document), 1},
              {tokens({question.begin(), question.end()}), std::ssize(question), 1});
    const std::vector<real> logits = model.logits(joint).value().to_vector();
    double sum = 0;
    for (const real it : logits) sum += std::exp(static_cast<double>(it));
    const auto label = toy.valid.answers[static_cast<size_t>(i)];
    correct += std::ranges::max_element(logits) - logits.begin() == label;
    nats += std::log(sum) - static_cast<double>(logits[static_cast<size_t>(label)]);
    const Answer& answer = answers[static_cast<size_t>(i)];
    // The answer is an entity of the document, even if the model finds another one more probable.
    const std::string text = toy.vocabulary.decode(document);
    for (int64_t entity = 0; entity < model.entities(); ++entity)
      if (text.find(entity_marker(entity)) != text.npos) {
        EXPECT_GE(logits[static_cast<size_t>(answer.entity)], logits[static_cast<size_t>(entity)]);
      }
    EXPECT_NE(text.find(entity_marker(answer.entity)), text.npos);
    EXPECT_NEAR(answer.probability,
                std::exp(static_cast<double>(logits[static_cast<size_t>(answer.entity)])) / sum, 1e-5);
    ASSERT_EQ(answer.attention.size(), document.size());
    for (size_t t = 0; t < document.size(); ++t)
      EXPECT_NEAR(answer.attention[t], attention.value().to_vector()[t], 1e-5);
  }
  EXPECT_EQ(scores.count, 80);
  EXPECT_NEAR(scores.at("accuracy"), 100.0 * static_cast<double>(correct) / 80, 1e-9);
  EXPECT_NEAR(80 * scores.at("nats"), nats, 1e-3);
}

TEST(QuestionAnswering, BaselinesCountEntities) {
  QuestionText text;
  text.add("@entity0 @entity1 @entity1", "@placeholder .", "@entity1", "");         // both
  text.add("@entity0 @entity1 @entity1", "@entity1 @placeholder", "@entity0", "");  // the second
  text.add("@entity1 @entity0 and @entity0 @entity1", "@placeholder", "@entity1",
           "");                                                                     // both: the first of two
  text.add("@entity1 @entity0", "@entity1 @entity0 @placeholder", "@entity0", "");  // none
  text.add("@entity0 @entity1", "@placeholder", "@entity7", "");                    // unknown
  const Vocabulary vocabulary({"text", "@entity0 @entity1 and . @placeholder\n", "", {}},
                              {.unit = Unit::words});
  const FrequencyBaselines found = frequency_baselines(encode_questions(text, vocabulary, 1000));
  EXPECT_NEAR(found.most_frequent, 40, 1e-9);
  EXPECT_NEAR(found.not_in_question, 60, 1e-9);
}

}  // namespace
}  // namespace rondo
