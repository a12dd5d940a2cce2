// Small trainings of all tasks, on data of different lengths: what they are said to take, beside what they
// take.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "lm/program/recipe.h"
#include "lm/tasks/classification.h"
#include "lm/tasks/multi_task.h"
#include "lm/tasks/question_answering.h"
#include "lm/tasks/skip_thought.h"
#include "lm/tasks/speech.h"
#include "lm/training/memory.h"
#include "nn/models/encoder_decoder.h"
#include "tensor/allocator.h"

namespace rondo {

/// Sentences for each task: a third of them for a GPU, which may be an emulated one.
class SomeTexts {
 public:
  static constexpr int64_t V = 300, classes = 3, entities = 9;

  explicit SomeTexts(Device device = Device::cpu) {
    const int parts = is_gpu(device) ? 3 : 1;
    for (int64_t i = 0; i < V; ++i) vocabulary.add(i == 0 ? "<eos>" : fmt::format("w{}", i));
    for (int i = 0; i < 2000 / parts; ++i) ids.push_back(1 + below(V - 1));
    for (int i = 0; i < 150 / parts; ++i) add(lines, 5, 20);
    for (int i = 0; i < 99 / parts; ++i) {
      text.pairs.source.add(sentence(8, 14));
      text.pairs.target.add(sentence(8, 14));
      text.references.emplace_back("w1 w2");
      labelled.sentences.add(sentence(8, 14));
      labelled.labels.push_back(below(classes));
      questions.documents.add(sentence(30, 40));
      questions.questions.add(sentence(6, 9));
      questions.answers.push_back(below(entities));
      triples.sentences.add(sentence(8, 14));
      if (i > 1) triples.middles.push_back(i - 1);
    }
    text.target = &vocabulary;
    utterances.options = {.filterbank = {.filters = 10, .energy = false}, .deltas = 0, .stack = 1};
    utterances.vocabulary = &vocabulary;
    for (int32_t i = 0; i < entities; ++i) questions.markers.push_back(i + 1);
    for (int32_t i = 0; i < V; ++i) questions.entity_of.push_back(i >= 1 && i <= entities ? i - 1 : -1);
    for (int i = 0; i < 40 / parts; ++i) {
      constexpr std::int64_t width = 10;
      std::vector<float> numbers(static_cast<size_t>(width * (30 + below(10))), 0.1F);
      utterances.frames.push_back({width, numbers});
      utterances.labels.push_back(sentence(4, 6));
      utterances.labels.back().pop_back();
      utterances.transcripts.emplace_back("w1");
    }
  }

  Vocabulary vocabulary{{.unit = Unit::words}};
  std::vector<int32_t> ids, lines;
  TranslationText text;
  LabelledSentences labelled;
  Questions questions;
  Triples triples;
  Utterances utterances;

 private:
  int32_t below(int64_t limit) { return static_cast<int32_t>(engine_() % static_cast<std::uint64_t>(limit)); }
  void add(std::vector<int32_t>& to, int64_t least, int64_t most) {
    for (int64_t n = least + below(most - least); n > 0; --n) to.push_back(1 + below(V - 1));
    to.push_back(0);
  }
  std::vector<int32_t> sentence(int64_t least, int64_t most) {
    std::vector<int32_t> made;
    add(made, least, most);
    return made;
  }
  std::mt19937 engine_{1};
};

struct SmallTraining {
  std::string recipe;
  std::vector<std::string> settings;
};

inline std::vector<SmallTraining> small_trainings() {
  const std::string E = "model.embedding=24", H = "model.hidden=32", B = "train.batch=8",
                    T = "train.length=16";
  return {{"zaremba-small", {E, H, B, T}},
          {"zaremba-small", {E, H, B, T, "data.batching=lines", "model.dropout=0", "model.layers=1"}},
          {"char-lstm", {H, "model.embedding=0", B, T, "train.micro_batch=4"}},
          {"qrnn-ptb-char", {H, E, B, T, "model.layers=2"}},
          {"mogrifier-lstm-ptb-char", {H, E, B, T}},
          {"cooijmans-ptb-bn-lstm", {H, B, T}},
          {"awd-lstm-ptb",
           {E, "model.hidden=[32, 32, 24]", B, T, "train.length_deviation=1", "train.eval_streams=4",
            "train.weight_noise=0.01"}},
          {"awd-lstm-mos-ptb",
           {E, "model.hidden=[32, 32, 20]", "model.experts=3", B, T, "train.length_deviation=0",
            "train.eval_streams=4", "train.micro_batch=0"}},
          {"lstm-adaptive-small-wt2", {E, H, B, T, "train.eval_streams=4"}},
          {"attention-multi30k", {E, H, "model.readout=24", B}},
          {"seq2seq-multi30k", {E, H, "model.readout=24", "train.batch=150", "train.batch_by=symbols"}},
          {"multi-task-one-to-many-multi30k", {E, H, "model.readout=24", B}},
          {"classify-trec", {E, H, B}},
          {"attentive-reader", {E, H, B, "train.averaging=always"}},
          {"skip-thought", {E, H, B}},
          {"speech-digits", {H, B, "data.filters=10", "data.stack=1", "data.deltas=0"}}};
}

inline Recipe recipe_of(const SmallTraining& it) {
  std::vector<Setting> settings;
  for (const std::string& setting : it.settings) settings.push_back(parse_setting(setting));
  return resolve_recipe(it.recipe, settings);
}

inline std::unique_ptr<Module> make_model(const Recipe& recipe, Device device) {
  constexpr int64_t V = SomeTexts::V;
  std::vector<int64_t> sizes = recipe.task->assumed_sizes(V);
  if (recipe.task_name == "classification") sizes = {V, SomeTexts::classes};
  if (recipe.task_name == "question_answering") sizes = {V, SomeTexts::entities};
  return recipe.task->make_model(sizes, 1, device);
}

/// The objectives of a multi-task training, which outlive it.
using Mixed = std::vector<std::unique_ptr<Objective>>;

inline std::unique_ptr<Objective> make_objective(const Recipe& recipe, SomeTexts& texts, Mixed& mixed,
                                                 Module& model) {
  const Task& task = *recipe.task;
  if (const auto* it = dynamic_cast<const TranslationTask*>(&task))
    return std::make_unique<Translation>(dynamic_cast<EncoderDecoder&>(model), it->settings.train,
                                         texts.text.pairs, texts.text);
  if (const auto* it = dynamic_cast<const MultiTaskLearning*>(&task)) {
    auto& models = dynamic_cast<SharedEncoderDecoders&>(model);
    std::vector<MixedTask> tasks;
    for (const MixedTaskOptions& part : it->settings.tasks) {
      mixed.push_back(std::make_unique<Translation>(models.at(tasks.size()), it->settings.translation.train,
                                                    texts.text.pairs, texts.text));
      tasks.push_back({part.name, 1, mixed.back().get()});
    }
    return std::make_unique<MultiTaskObjective>(model, tasks);
  }
  if (const auto* it = dynamic_cast<const ClassificationTask*>(&task))
    return std::make_unique<Classification>(dynamic_cast<SentenceClassifier&>(model), it->settings.train,
                                            texts.labelled, texts.labelled);
  if (const auto* it = dynamic_cast<const QuestionAnsweringTask*>(&task))
    return std::make_unique<QuestionAnswering>(dynamic_cast<AttentiveReader&>(model), it->settings.train,
                                               texts.questions, texts.questions);
  if (const auto* it = dynamic_cast<const SkipThoughtTask*>(&task))
    return std::make_unique<SkipThoughtObjective>(dynamic_cast<SkipThought&>(model), it->settings.train,
                                                  texts.triples, texts.triples);
  if (const auto* it = dynamic_cast<const SpeechTask*>(&task)) {
    texts.utterances.options = it->settings.frames;
    return std::make_unique<SpeechRecognition>(dynamic_cast<CtcModel&>(model), it->settings.train,
                                               texts.utterances, texts.utterances);
  }
  const LanguageModellingOptions& options = recipe.language_model().train;
  const std::vector<int32_t>& ids = options.batches.batching == Batching::lines ? texts.lines : texts.ids;
  return std::make_unique<LanguageModelling>(dynamic_cast<LanguageModel&>(model), options, ids, ids, 0);
}

/// An epoch, an evaluation and an epoch.
inline void train_and_evaluate(Objective& objective, TrainerOptions options) {
  if (options.averaging != Averaging::never) options.averaging = Averaging::always;
  Trainer trainer(objective, options);
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (trainer.next_batch()) trainer.step();
    trainer.metrics();
    if (epoch == 0) {
      const auto evaluated = trainer.evaluated_weights();
      objective.evaluate({});
    }
    trainer.begin_next_epoch();
  }
}

/// Returns the memory that a training is estimated to take. Throws InputError if that is more than `most`
/// bytes.
inline TrainingMemory estimated_memory(const Recipe& recipe, SomeTexts& texts, Device device = Device::cpu,
                                       int64_t most = std::numeric_limits<int64_t>::max()) {
  Mixed mixed;
  return measure_training_memory(
      device, recipe.trainer, [&](Device meta) { return make_model(recipe, meta); },
      [&](Module& model) { return make_objective(recipe, texts, mixed, model); }, most);
}

inline void expect_estimates_near_peaks(Device device) {
  SomeTexts texts(device);
  const std::vector<SmallTraining> all = small_trainings();
  const size_t each = is_gpu(device) ? 3 : 1;  // an emulated GPU is slow: every third, each of another kind
  for (size_t i = 0; i < all.size(); i += each) {
    const SmallTraining& it = all[i];
    const Recipe recipe = recipe_of(it);
    Mixed mixed;
    const TrainingMemory estimated = estimated_memory(recipe, texts, device);
    const size_t before = memory_statistics(device).bytes_in_use;
    const auto peak = [&] { return static_cast<double>(memory_statistics(device).peak_bytes - before); };
    reset_peak_bytes(device);
    double evaluation = 0;
    {
      const auto model = make_model(recipe, device);
      const auto objective = make_objective(recipe, texts, mixed, *model);
      objective->evaluate({});
      evaluation = peak();
    }
    reset_peak_bytes(device);
    const auto model = make_model(recipe, device);
    const auto objective = make_objective(recipe, texts, mixed, *model);
    train_and_evaluate(*objective, recipe.trainer);
    const std::string which = fmt::format("{} {}", it.recipe, fmt::join(it.settings, " "));
    const double of_training = static_cast<double>(estimated.training) / peak(),
                 of_evaluation = static_cast<double>(estimated.evaluation) / evaluation;
    EXPECT_NEAR(of_training, 1, 0.1) << which;
    EXPECT_NEAR(of_evaluation, 1, 0.1) << "evaluation: " << which;
  }
}

}  // namespace rondo
