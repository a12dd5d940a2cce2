// A program beside Rondo that trains a language model as `lm` does, by the library alone: a schedule,
// averaging, saving, resuming bit for bit, evaluation with dynamic evaluation and a cache, sampling. Exit
// status 0: all is as it should be. docs/another_model.md explains it.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "data/text/vocabulary.h"
#include "lm/decoding/sampling.h"
#include "lm/evaluation/adaptive_evaluation.h"
#include "lm/tasks/language_modelling.h"
#include "lm/training/checkpoint.h"
#include "lm/training/trainer.h"
#include "tensor/products/precision.h"

using namespace rondo;

/// A model, what it is trained on, and its trainer.
struct Training {
  Training(std::span<const int32_t> train_ids, std::span<const int32_t> valid_ids, int64_t V)
      : model({{.embedding = 16, .dropout = 0.1, .variational = true}, {48}}, V),
        task(model, {.batches = {.batch = 8, .chunks = {.length = 25}}}, train_ids, valid_ids),
        trainer(task, {.epochs = 8,
                       .clip = 1,
                       .optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 4},
                       .schedule = {.kind = ScheduleKind::decay_after, .decay_after = 5},
                       .averaging = Averaging::always}) {}

  LanguageModel model;
  LanguageModelling task;
  Trainer trainer;
};

/// Trains to the end of an epoch; the best weights so far are in best.safetensors.
void train(Training& it, int64_t last_epoch) {
  while (!it.trainer.done() && it.trainer.epoch() <= last_epoch) {
    while (it.trainer.next_batch()) it.trainer.step();
    it.trainer.metrics();  // throws Diverged if the loss is not finite
    {
      const auto average = it.trainer.evaluated_weights();  // the model has it until the end of this scope
      if (it.trainer.validated(it.task.evaluate())) save_model("best.safetensors", it.model);
    }
    it.trainer.begin_next_epoch();
    it.trainer.save("state.safetensors");
  }
}

int failures = 0;

void expect(bool holds, const std::string& what) {
  std::printf("%s  %s\n", holds ? "good" : "BAD ", what.c_str());
  failures += !holds;
}

int main() {
  std::filesystem::current_path(std::filesystem::temp_directory_path());
  // Verses that count; the last of them, on which the model is validated, in other words.
  std::string book;
  for (int i = 0; i < 900; ++i)
    book +=
        fmt::format("verse {} {}, and {} again.\n", i * i % 97, i < 800 ? "comes round" : "is sung", i % 10);
  const Text text = clean_text(book, "the book", Unit::characters);
  const Vocabulary vocabulary(text, {.unit = Unit::characters});
  const std::vector<int32_t> ids = vocabulary.encode(text).ids;
  const std::span<const int32_t> all(ids), train_ids = all.first(all.size() - 3000),
                                           valid_ids = all.last(3000);

  Training whole(train_ids, valid_ids, vocabulary.size()), begun(train_ids, valid_ids, vocabulary.size()),
      resumed(train_ids, valid_ids, vocabulary.size());
  train(whole, 8);
  train(begun, 4);
  resumed.trainer.load("state.safetensors");
  train(resumed, 8);
  expect(whole.trainer.epoch() == 9 && whole.trainer.averages(), "all epochs, averaged");
  expect(resumed.model.values().to_vector() == whole.model.values().to_vector(),
         "a resumed run has the same bits");

  load_model("best.safetensors", whole.model);
  const Evaluation plain = evaluate_ids(whole.model, valid_ids, {});
  const DynamicOptions dynamic{.statistics_streams = 8};
  const GradientStatistics statistics = gradient_statistics(whole.model, train_ids, dynamic);
  const Evaluation adapted = evaluate_adaptively(
      whole.model, valid_ids,
      {.dynamic = dynamic, .statistics = &statistics, .cache = CacheOptions{.window = 500, .lambda = 0.02}});
  expect(plain.nats() < std::log(vocabulary.size()), fmt::format("{:.3f} nats per symbol", plain.nats()));
  expect(adapted.nats() < plain.nats(),
         fmt::format("{:.3f} with dynamic evaluation and a cache", adapted.nats()));

  {
    const WithPrecision rounded(Precision::bf16);
    const double nats = evaluate_ids(whole.model, valid_ids, {}).nats();
    expect(nats != plain.nats() && std::abs(nats - plain.nats()) < 0.01, "nearly the same loss in bf16");
  }

  Sampler sampler(whole.model, vocabulary, {.temperature = 0.5, .seed = 3});
  std::string sample;
  for (int i = 0; i < 100; ++i) sample += sampler.next();
  expect(sample.find("comes round") != std::string::npos, "a sample: " + sample);
  return failures == 0 ? 0 : 1;
}
