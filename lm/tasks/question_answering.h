// Question answering as a task: cloze questions, their vocabulary and entities, the reader, the loss of each
// answer, and what it answers. Next: data/sentences/questions.h, nn/models/attentive_reader.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "data/sentences/questions.h"
#include "data/text/text.h"
#include "lm/tasks/sentence_task.h"
#include "nn/models/attentive_reader.h"

namespace rondo {

inline std::vector<std::vector<int32_t>> indices_of(const QuestionBatch& batch) {
  return {batch.documents.ids, batch.questions.ids, batch.answers};
}
/// What the model computes of a batch. The ids lie on its device.
inline AttentiveReader::Output read_questions(AttentiveReader& model, const QuestionBatch& batch,
                                              const std::vector<Tokens>& indices) {
  const std::int64_t B = batch.documents.sentences;
  return model({indices[0], batch.documents.steps, B, batch.documents.lengths},
               {indices[1], batch.questions.steps, B, batch.questions.lengths});
}
/// -log p of each answer.
inline CrossEntropy nats_of(AttentiveReader& model, const QuestionBatch& batch,
                            const std::vector<Tokens>& indices) {
  return model.cross_entropy(read_questions(model, batch, indices).joint, indices[2]);
}

/// Batches all questions, about rows_at_once words of documents at a time.
inline QuestionBatches evaluation_batches(const Questions& questions) {
  std::int64_t longest = 1;
  for (std::int64_t i = 0; i < questions.size(); ++i)
    longest = std::max(longest, questions.documents.length(i));
  return {{.batch = std::max<std::int64_t>(1, rows_at_once / longest)}, questions, 1};
}

// --- Baselines ---
// Two of them do not read: the most frequent entity of the document, and the most frequent one that the
// question does not name (Hermann et al. 2015, section 4.1).

/// The entity that occurs most often and is none of `excluded`; of equals the one that occurs first; -1:
/// none.
inline std::int32_t most_frequent(std::span<const std::int32_t> entities,
                                  const std::set<std::int32_t>& excluded) {
  std::int32_t best = -1;
  std::int64_t highest = 0;
  for (const std::int32_t it : entities) {
    const std::int64_t count = std::ranges::count(entities, it);
    if (!excluded.contains(it) && count > highest) best = it, highest = count;
  }
  return best;
}

/// The shares in percent of questions that the two baselines answer; of equally frequent entities they take
/// the first.
struct FrequencyBaselines {
  double most_frequent = 0, not_in_question = 0;
};
inline FrequencyBaselines frequency_baselines(const Questions& questions) {
  const auto entities_of = [&](std::span<const std::int32_t> ids) {
    std::vector<std::int32_t> entities;
    for (const std::int32_t id : ids)
      if (const std::int32_t entity = questions.entity_of[static_cast<std::size_t>(id)]; entity >= 0)
        entities.push_back(entity);
    return entities;
  };
  double first = 0, second = 0;
  for (std::int64_t i = 0; i < questions.size(); ++i) {
    const std::vector<std::int32_t> named = entities_of(questions.questions[i]);
    const std::vector<std::int32_t> of_document = entities_of(questions.documents[i]);
    const std::int32_t answer = questions.answers[static_cast<std::size_t>(i)];
    if (answer < 0) continue;
    first += most_frequent(of_document, {}) == answer;
    second += most_frequent(of_document, {named.begin(), named.end()}) == answer;
  }
  const auto all = static_cast<double>(questions.size());
  return {100 * first / all, 100 * second / all};
}

// --- Evaluation ---

/// Measures the accuracy in percent of all questions, and the mean of -log p(answer) over those whose answer
/// has a row in the vocabulary; the others are not found. An answer is correct if it is the most probable of
/// all the entities that the model knows, whether its document names them or not. The two baselines stand
/// beside. `progress` gets the number of questions done. Dropout is off, and entities keep their numbers.
inline Scores evaluate_on(AttentiveReader& model, const Questions& questions,
                          const ReportDone& progress = {}) {
  Choices choices;
  const double seconds =
      read_batches(model, evaluation_batches(questions), progress, [&](const QuestionBatch& it) {
        const std::vector<Tokens> indices = tokens_of(indices_of(it));
        const Variable joint = read_questions(model, it, indices).joint;
        choices.add(model.logits(joint), model.cross_entropy(joint, indices[2]), it.answers);
      });
  Scores scores = choices.scores("questions", seconds);
  const FrequencyBaselines baselines = frequency_baselines(questions);
  scores.details.insert(scores.details.end(),
                        {{"unknown_answers", choices.unknown},
                         {"most_frequent_entity", baselines.most_frequent},
                         {"most_frequent_entity_not_in_question", baselines.not_in_question},
                         {"classes", model.entities()}});
  return scores;
}

struct Answer {
  std::int32_t entity;           // its number
  double probability;            // among all the entities that the model knows
  std::vector<float> attention;  // of each word of the document
};

/// The most probable entity of those that the document names; of all, if what was read of it names none.
inline std::int32_t best_answer(std::span<const real> log_p, std::span<const std::int32_t> document,
                                const std::vector<std::int32_t>& entity_of) {
  std::int32_t best = -1;
  for (const std::int32_t id : document)
    if (const std::int32_t entity = entity_of[static_cast<std::size_t>(id)];
        entity >= 0 &&
        (best < 0 || log_p[static_cast<std::size_t>(entity)] > log_p[static_cast<std::size_t>(best)]))
      best = entity;
  return best >= 0 ? best : static_cast<std::int32_t>(std::ranges::max_element(log_p) - log_p.begin());
}

/// Finds, for each of one or more questions, the most probable entity of those that its document names.
/// Dropout is off.
inline std::vector<Answer> most_probable_answers(AttentiveReader& model, const Questions& questions) {
  std::vector<Answer> answers(static_cast<std::size_t>(questions.size()));
  const auto K = static_cast<std::size_t>(model.entities());
  read_batches(model, evaluation_batches(questions), {}, [&](const QuestionBatch& batch) {
    const AttentiveReader::Output output = read_questions(model, batch, tokens_of(indices_of(batch)));
    const std::vector<real> log_p = log_softmax(model.logits(output.joint)).value().to_vector();
    const std::vector<real> weights = output.attention.value().to_vector();
    for (std::size_t b = 0; b < batch.indices.size(); ++b) {
      const std::span<const real> of_question = std::span(log_p).subspan(b * K, K);
      const std::int32_t best =
          best_answer(of_question, questions.documents[batch.indices[b]], questions.entity_of);
      const auto row = weights.begin() + static_cast<std::ptrdiff_t>(b) * batch.documents.steps;
      answers[static_cast<std::size_t>(batch.indices[b])] = {
          best, std::exp(static_cast<double>(of_question[static_cast<std::size_t>(best)])),
          std::vector<float>(row, row + batch.documents.lengths[b])};
    }
  });
  return answers;
}

/// Probes with the loss of the answer. InputError if the model knows the answer of no question.
inline Probed probe(AttentiveReader& model, const Questions& questions, const ProbeOptions& options,
                    const ReportDone& progress = {}) {
  std::vector<std::int64_t> known;
  for (std::int64_t i = 0; i < questions.size(); ++i)
    if (questions.answers[static_cast<std::size_t>(i)] >= 0) known.push_back(i);
  check_input(!known.empty(), "no question has an answer that the model knows");
  return probe_batches(
      model, "the loss of the answer", QuestionBatches({.batch = probed_at_once}, questions, 1),
      evenly(known, options.sequences), progress,
      [&](const QuestionBatch& it) { return nats_of(model, it, tokens_of(indices_of(it))).total; });
}

class QuestionAnswering : public SentenceObjective<AttentiveReader, QuestionBatches> {
 public:
  using SentenceObjective::SentenceObjective;
  std::string scored_items() const override { return "questions"; }

 private:
  std::string limit_of_lengths() const override { return "data.document_words"; }
};

// --- Questions of a user ---

/// A line of input; an empty document: an empty line.
struct AskedQuestion {
  std::string document, question;
};

/// Reads a document, a tab and a question, whose entities are markers. InputError for a line without a tab,
/// without a marker in what is read of the document, and with a marker that the model does not know.
inline AskedQuestion read_question(const InputLine& line, const QuestionOptions& reading,
                                   std::int64_t entities) {
  const std::string& name = line.name;
  const std::string text = text_of_line(line.text, Unit::words);
  if (stripped(text).empty()) return {};
  check_utf8(text, name);
  const std::size_t tab = text.find('\t');
  check_input(tab != text.npos, "{}: a line is a document, a tab, and a question with {}", name, placeholder);
  for (const std::string_view word : split_words(text))
    check_input(entity_number(word) < entities, "{}: {}, and this run's model knows markers below {}", name,
                word, entity_marker(entities));
  AskedQuestion asked{text.substr(0, tab), text.substr(tab + 1)};
  prepare(asked.document, asked.question, reading);
  const std::vector<std::string_view> kept = split_words(asked.document);
  check_input(std::ranges::any_of(kept, [](auto it) { return entity_number(it) >= 0; }),
              "{}: the document names no entity, such as @entity0, in what is read of it", name);
  return asked;
}

/// What the model attended to in the document before it gave the answer.
inline Alignment alignment_of(const AskedQuestion& question, const Answer& answer) {
  Alignment alignment;
  for (const std::string_view word : split_words(question.document)) alignment.source.emplace_back(word);
  alignment.source.resize(answer.attention.size() - 1);  // the words that were read
  alignment.source.emplace_back(eos_symbol);
  alignment.target = {entity_marker(answer.entity)};
  alignment.weights = {answer.attention};
  return alignment;
}

/// What a user should know of a document that is longer than what is read of it; else empty.
inline std::string note_of_length(const AskedQuestion& question, std::int64_t most, const std::string& name) {
  const std::int64_t words = std::ssize(split_words(question.document));
  if (words <= most) return "";
  return fmt::format(
      "{}: the document has {} words, of which this run reads the first {} (data.document_words)", name,
      words, most);
}

// --- The task ---

struct QuestionAnsweringSettings {
  QuestionOptions questions{};  // of section [data], as the next one
  VocabularyLimits limits{};
  Tokenization tokenization{};  // words: not a key
  AttentiveReaderOptions model{};
  QuestionBatchOptions train{};
};

class QuestionAnsweringTask
    : public SentenceTask<QuestionAnsweringTask, QuestionAnsweringSettings, AttentiveReader, QuestionTexts,
                          Questions, QuestionAnswering> {
 public:
  Sections sections() override {
    return {.data = joined({keys_of(settings.questions), keys_of(settings.limits)}),
            .model = keys_of(settings.model),
            .train = keys_of(settings.train)};
  }
  std::string belongs_to_data() const override { return "its entities belong to its documents"; }
  bool predicts_text() const override { return false; }
  std::string selection_metric() const override { return "accuracy"; }
  bool higher_is_better() const override { return true; }
  std::string model_text() const override {
    const AttentiveReaderOptions& it = settings.model;
    return fmt::format("attentive reader, {}{} x {} {} for each text",
                       it.bidirectional ? "bidirectional " : "", it.layers, it.hidden, it.cell);
  }
  std::string sizes_text(const Sizes& sizes) const override {
    return fmt::format("{} words, {} of them entities", sizes.at(0), sizes.at(1));
  }
  Usage usage() const override {
    return {"answer", "to ask it",
            fmt::format("< questions, lines of DOCUMENT, a tab, QUESTION with {}", placeholder)};
  }

  void open(const DataSource& source) override {
    check_input(!source.path.empty(), "which questions? give --data a folder with training/*.question");
    texts_ = open_questions(source.path, settings.questions);
  }
  void make_vocabularies() override {
    vocabularies_ = {Vocabulary(text_for_vocabulary(texts_.train, settings.limits.min_count),
                                settings.tokenization, settings.limits)};
    check_has_all_markers(vocabulary(), texts_.train);
  }
  void assume(const Sizes& sizes) override {
    const std::int64_t count = settings.train.batch, entities = std::min(sizes.at(0), sizes.at(1));
    Questions made{some_sentences(count, settings.questions.document_words, entities),
                   some_sentences(count, length_within(0), entities),
                   some_ids(static_cast<double>(count), entities),
                   {},
                   {}};
    for (std::int32_t i = 0; i < entities; ++i) made.markers.push_back(i), made.entity_of.push_back(i);
    set_encoded(made);
  }
  std::string size_text() const override {
    const Questions& train = encoded("train");
    return fmt::format("{} questions about {} entities, documents of {} words on average, {}", train.size(),
                       train.markers.size(), train.documents.symbols() / train.size(),
                       vocabulary_text(vocabulary().size()));
  }

  Sizes sizes() const override { return {vocabulary().size(), std::ssize(markers_of(vocabulary()))}; }
  Sizes assumed_sizes(std::int64_t vocabulary) const override {
    constexpr std::int64_t entities = 50;
    return {vocabulary, entities};
  }
  std::unique_ptr<Module> make_model(const Sizes& sizes, std::uint64_t seed, Device device) const override {
    return std::make_unique<AttentiveReader>(settings.model, sizes.at(0), sizes.at(1), seed, device);
  }
  /// A line is a document, a tab and a question with `@placeholder`; the answer is the marker of an entity.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
    const QuestionOptions& reading = settings.questions;
    std::vector<AskedQuestion> questions;
    QuestionText all;
    for (const InputLine& line : lines) {
      questions.push_back(read_question(line, reading, own(model).entities()));
      const AskedQuestion& it = questions.back();
      if (!it.document.empty()) all.add(it.document, it.question, entity_marker(0), line.name);
    }
    std::vector<LineAnswer> answers(lines.size());
    if (all.size() == 0) return answers;
    const auto found =
        most_probable_answers(own(model), encode_questions(all, vocabulary(), reading.document_words));
    auto next = found.begin();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (questions[i].document.empty()) continue;
      answers[i] = {.text = entity_marker(next->entity),
                    .score = next->probability,
                    .alignment = alignment_of(questions[i], *next),
                    .note = note_of_length(questions[i], reading.document_words, lines[i].name)};
      ++next;
    }
    return answers;
  }

 private:
  bool has_batch_norm() const override { return looks_across_rows(settings.model); }
  std::string left_out_of(const std::string& split) const override { return text(split).left_out; }
  Questions encode(const std::string& split) const override {
    return encode_questions(text(split), vocabulary(), settings.questions.document_words);
  }
};

}  // namespace rondo
