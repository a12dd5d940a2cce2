// Made-up data.
#include "lm/program/assumed_data.h"

#include <algorithm>
#include <cmath>

#include "lm/program/multi_task_text.h"
#include "lm/tasks/multi_task.h"
#include "nn/models/shared_encoder_decoders.h"

namespace rondo {
namespace {

constexpr std::int32_t end = 0;  // the end of a line

double to_double(std::int64_t number) { return static_cast<double>(number); }

/// Ids of a text in which the r-th most frequent of V symbols has about 1 / r of the occurrences of the
/// first; but only of the first million, for evaluations count each. InputError for more ids than a machine
/// should hold.
std::vector<std::int32_t> some_ids(double count, std::int64_t V) {
  constexpr double most = std::int64_t{1} << 27, golden_ratio = 1.618033988749895;
  check_input(
      count <= most,
      "a batch of {:.3g} symbols is too large: make train.batch, train.length or the lengths of sentences "
      "smaller",
      count);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  double place = 0;
  for (std::int32_t& id : ids) {
    place = std::fmod(place + golden_ratio, 1.0);
    id = static_cast<std::int32_t>(std::pow(std::min(to_double(V), 1e6), place)) - 1;
  }
  return ids;
}

/// `count` sentences of `length` symbols, the last of which is the end of a line.
Sentences some_sentences(std::int64_t count, std::int64_t length, std::int64_t V) {
  std::vector<std::int32_t> ids = some_ids(to_double(count) * to_double(length), V);
  Sentences sentences;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto sentence =
        std::span(ids).subspan(static_cast<std::size_t>(i * length), static_cast<std::size_t>(length));
    sentence.back() = end;
    sentences.add(sentence);
  }
  return sentences;
}

/// Lines of train.length symbols, or a text for streams or crops; enough for one batch, and for evaluation.
std::vector<std::int32_t> some_text(const LanguageModellingOptions& options, std::int64_t V) {
  const std::int64_t length = longest_chunk(options.batches.chunks);
  const double count = to_double(options.batches.batch + 2) * to_double(length) +
                       2 * to_double(std::max(options.eval_streams, rows_at_once));
  std::vector<std::int32_t> ids = some_ids(count, V);
  if (options.batches.batching == Batching::lines)
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = (static_cast<std::int64_t>(i) + 1) % length == 0 ? end : std::max(ids[i], end + 1);
  return ids;
}

std::int64_t sentences_of(const SentenceBatchOptions& batches, std::int64_t length) {
  return batches.by == BatchBy::sentences ? batches.batch : std::max<std::int64_t>(1, batches.batch / length);
}

std::int64_t length_within(std::int64_t max_length) { return max_length > 0 ? max_length + 1 : 40; }

}  // namespace

AssumedData::AssumedData(const Recipe& recipe, const std::vector<std::int64_t>& vocabulary_sizes)
    : recipe_(recipe) {
  for (const char* symbol : {"\n", "a"}) vocabulary_.add(symbol);
  const auto V = [&](std::size_t i) { return vocabulary_sizes.at(i); };
  const auto add_pairs = [&](std::int64_t of_source, std::int64_t of_target) {
    const std::int64_t length = length_within(recipe.translation.data.pairs.max_length);
    const std::int64_t count = sentences_of(recipe.translation.task.batches.order, length);
    pairs_.push_back(
        {.pairs = {some_sentences(count, of_source > 0 ? length : 1, std::max<std::int64_t>(1, of_source)),
                   some_sentences(count, length, of_target)},
         .target = &vocabulary_,
         .reverse_source = recipe.translation.task.batches.reverse_source});
  };
  switch (recipe.kind) {
    case TaskKind::translation:
      add_pairs(V(0), V(1));
      return;
    case TaskKind::multi_task: {
      const std::vector<std::string> languages = languages_of(recipe.tasks);
      const auto size_of = [&](const std::string& language) {
        const auto place = std::find(languages.begin(), languages.end(), language);
        return place == languages.end() ? 0 : V(static_cast<std::size_t>(place - languages.begin()));
      };
      for (const MixedTaskOptions& it : recipe.tasks) add_pairs(size_of(it.source), size_of(it.target));
      return;
    }
    case TaskKind::classification: {
      const std::int64_t count = sentences_of(recipe.classification.task.batches, 40);
      labelled_ = {some_sentences(count, 40, V(0)), some_ids(to_double(count), V(1))};
      return;
    }
    case TaskKind::question_answering: {
      const std::int64_t count = recipe.question_answering.task.batches.batch, entities = V(1);
      const std::int64_t words = recipe.question_answering.data.questions.document_words;
      questions_ = {some_sentences(count, words > 0 ? words : 200, entities),
                    some_sentences(count, 40, entities),
                    some_ids(to_double(count), entities),
                    {},
                    {}};
      for (std::int32_t i = 0; i < entities; ++i)
        questions_.markers.push_back(i), questions_.entity_of.push_back(i);
      return;
    }
    case TaskKind::skip_thought: {
      const std::int64_t length = length_within(recipe.skip_thought.data.triples.max_length);
      const std::int64_t count = sentences_of(recipe.skip_thought.task.batches, length);
      triples_.sentences = some_sentences(count + 2, length, V(0));
      for (std::int64_t i = 1; i <= count; ++i) triples_.middles.push_back(i);
      return;
    }
    case TaskKind::speech: {
      constexpr std::int64_t steps = 200, characters = 50;
      const FrameOptions& frames = recipe.speech.data.frames;
      const std::int64_t width = width_of(frames.filterbank), numbers = steps * frames.stack * width;
      for (std::int64_t i = sentences_of(recipe.speech.task.batches, steps); i > 0; --i) {
        utterances_.frames.push_back({width, std::vector<float>(static_cast<std::size_t>(numbers))});
        utterances_.labels.push_back(some_ids(characters, V(0) - 1));
        for (std::int32_t& label : utterances_.labels.back()) ++label;  // 0 is the blank
        utterances_.transcripts.emplace_back("a");
      }
      return;
    }
    default:
      ids_ = some_text(recipe.task, V(0));
  }
}

std::unique_ptr<Task> AssumedData::make_multi_task(SharedEncoderDecoders& model) {
  mixed_.clear();
  std::vector<MixedTask> tasks;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    mixed_.push_back(
        std::make_unique<Translation>(model.at(i), recipe_.translation.task, pairs_[i].pairs, pairs_[i]));
    tasks.push_back({recipe_.tasks[i].name, recipe_.tasks[i].ratio, mixed_.back().get()});
  }
  return std::make_unique<MultiTask>(model, std::move(tasks));
}

std::unique_ptr<Task> AssumedData::make_task(Module& model) {
  switch (recipe_.kind) {
    case TaskKind::translation:
      return std::make_unique<Translation>(dynamic_cast<EncoderDecoder&>(model), recipe_.translation.task,
                                           pairs_.front().pairs, pairs_.front());
    case TaskKind::multi_task:
      return make_multi_task(dynamic_cast<SharedEncoderDecoders&>(model));
    case TaskKind::classification:
      return std::make_unique<Classification>(dynamic_cast<SentenceClassifier&>(model),
                                              recipe_.classification.task, labelled_, labelled_);
    case TaskKind::question_answering:
      return std::make_unique<QuestionAnswering>(dynamic_cast<AttentiveReader&>(model),
                                                 recipe_.question_answering.task, questions_, questions_);
    case TaskKind::skip_thought:
      return std::make_unique<SkipThoughtTask>(dynamic_cast<SkipThought&>(model), recipe_.skip_thought.task,
                                               triples_, triples_);
    case TaskKind::speech:
      return std::make_unique<SpeechRecognition>(dynamic_cast<CtcModel&>(model), recipe_.speech.task,
                                                 recipe_.speech.data.frames, vocabulary_, utterances_,
                                                 utterances_);
    default:
      return std::make_unique<LanguageModelling>(dynamic_cast<LanguageModel&>(model), recipe_.task, ids_,
                                                 ids_, end);
  }
}

}  // namespace rondo
