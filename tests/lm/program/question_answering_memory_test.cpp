// What the tensors of a reader's training and of its evaluation are said to take, beside what they take.
#include "lm/program/question_answering_memory.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>

#include "lm/program/recipes.h"
#include "lm/training/trainer.h"
#include "tensor/allocator.h"
#include "tests/temporary_folder.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

/// Documents of 80 to 120 words, questions of 15 to 25, a few entities.
QuestionText random_questions(int count) {
  std::mt19937 engine(1);
  const auto below = [&](unsigned limit) { return static_cast<int>(engine() % limit); };
  QuestionText text;
  for (int i = 0; i < count; ++i) {
    const std::string answer = entity_marker(below(9));
    std::string document = answer, question = std::string(placeholder);
    for (int t = 80 + below(41); t > 0; --t) document += fmt::format(" w{}", below(1500));
    for (int t = 15 + below(11); t > 0; --t) question += fmt::format(" w{}", below(1500));
    text.add(document, question, answer, "");
  }
  return text;
}

TEST(MemoryOfQuestionAnswering, IsWithinAQuarterOfTheEstimate) {
  const QuestionText text = random_questions(120);
  const Vocabulary vocabulary(text_for_vocabulary(text, 1), {.unit = Unit::words});
  const Questions questions = encode_questions(text, vocabulary, 0);
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {},
           {"model.cell=gru", "model.forget_bias=0", "model.dropout=0"},
           {"model.layers=2"},
           {"model.cell=bn_lstm", "model.batch_norm_attention=true", "model.trained_initial_states=true"},
           {"train.batch=60"}}) {
    const std::string which = fmt::format("{}", fmt::join(settings, " "));
    std::vector<Setting> parsed;
    for (const std::string& it : settings) parsed.push_back(parse_setting(it));
    const Recipe recipe = resolve_recipe("attentive-reader", parsed);
    const QuestionAnsweringRecipe& it = recipe.question_answering;
    const std::int64_t entities = std::ssize(questions.markers);
    const QuestionBatchSize size = largest_batch(it.task.batches, questions, 1);
    const AttentiveReader layout(it.model, vocabulary.size(), entities, std::nullopt);
    const std::int64_t estimated = question_answering_training_bytes(recipe, layout, size);

    const size_t before = memory_statistics(Device::cpu).bytes_in_use;
    const auto expect_peak_near = [&](std::int64_t bytes, const std::string& what) {
      const auto measured = static_cast<double>(memory_statistics(Device::cpu).peak_bytes - before);
      EXPECT_GT(measured / static_cast<double>(bytes), 0.75) << what << ": " << measured;
      EXPECT_LT(measured / static_cast<double>(bytes), 1.25) << what << ": " << measured;
    };
    {
      reset_peak_bytes(Device::cpu);
      AttentiveReader model(it.model, vocabulary.size(), entities);
      evaluate_reader(model, questions);
      expect_peak_near(question_answering_evaluation_bytes(layout, size), "evaluation: " + which);
    }
    reset_peak_bytes(Device::cpu);
    AttentiveReader model(it.model, vocabulary.size(), entities);
    QuestionAnswering task(model, it.task, questions, questions);
    Trainer trainer(task, recipe.trainer);
    trainer.begin_next_epoch();
    while (trainer.next_batch()) trainer.step();
    expect_peak_near(estimated, which);

    EXPECT_NO_THROW(check_question_answering_fits(recipe, layout, size, estimated));
    expect_contains(
        error_of<InputError>([&] { check_question_answering_fits(recipe, layout, size, estimated - 1); }),
        "train.batch");
  }
}

}  // namespace
}  // namespace rondo
