// Question answering as a task.
#include "lm/tasks/question_answering.h"

#include <algorithm>

#include "autograd/operators/arithmetic.h"
#include "data/cloze.h"
#include "data/text.h"
#include "data/unicode.h"
#include "lm/tasks/task.h"

namespace rondo {

Keys keys_of(QuestionAnsweringOptions& options) { return keys_of(options.batches); }

QuestionAnswering::QuestionAnswering(AttentiveReader& model, const QuestionAnsweringOptions& options,
                                     const Questions& train, const Questions& valid, uint64_t seed)
    : SentenceObjective(QuestionBatches(options.batches, train, seed)), model_(model), valid_(valid) {}

void QuestionAnswering::stage(Batch& batch) const {
  batch.indices = {staged_.documents.ids, staged_.questions.ids, staged_.answers};
  batch.scored = staged_.share.whole;
}

Loss QuestionAnswering::loss(int64_t, const std::vector<Tokens>& indices, RandomContext random) {
  const PaddedSentences &documents = staged_.documents, &questions = staged_.questions;
  const int64_t B = documents.sentences;
  begin_update(random);
  const AttentiveReader::Output output = model_({indices[0], documents.steps, B, documents.lengths},
                                                {indices[1], questions.steps, B, questions.lengths});
  const CrossEntropy nats = model_.cross_entropy(output.joint, indices[2]);
  return {nats.total / static_cast<real>(staged_.share.whole), {nats.each}};
}

std::string QuestionAnswering::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or data.document_words smaller; the largest batch has {} documents of "
      "{} words",
      staged_.documents.sentences, staged_.documents.steps);
}

Scores QuestionAnswering::evaluate(const std::function<void(int64_t)>& progress) {
  return evaluate_reader(model_, valid_, progress);
}

// --- The task ---

Sections QuestionAnsweringTask::sections() {
  return {.data = joined({keys_of(settings.questions), keys_of(settings.limits)}),
          .model = keys_of(settings.model),
          .train = keys_of(settings.train)};
}

void QuestionAnsweringTask::check(const std::string& where) const {
  check_section(where, "data", settings.limits);
  check_section(where, "", settings.model);
  check_rows_at_once(where, looks_across_rows(settings.model), "train.batch", settings.train.batches.batch);
}

std::string QuestionAnsweringTask::model_text() const {
  const AttentiveReaderOptions& it = settings.model;
  return fmt::format("attentive reader, {}{} x {} {} for each text", it.bidirectional ? "bidirectional " : "",
                     it.layers, it.hidden, it.cell);
}

Usage QuestionAnsweringTask::usage() const {
  return {"answer", "to ask it",
          fmt::format("< questions, lines of DOCUMENT, a tab, QUESTION with {}", placeholder)};
}

void QuestionAnsweringTask::open(const DataSource& source) {
  check_input(
      !source.path.empty(),
      "which questions? give --data a folder with training/*.question, or a text to make questions from");
  texts_ = open_questions(source.path, settings.questions, source.pipes);
}

void QuestionAnsweringTask::make_vocabularies() {
  vocabulary_.emplace(text_for_vocabulary(texts_.train, settings.limits.min_count), settings.tokenization,
                      settings.limits);
  check_has_all_markers(*vocabulary_, texts_.train);
}

Questions QuestionAnsweringTask::encode(Split split) const {
  return encode_questions(texts_.at(split), *vocabulary_, settings.questions.document_words);
}

void QuestionAnsweringTask::assume(const std::vector<std::int64_t>& sizes) {
  const std::int64_t count = settings.train.batches.batch, entities = sizes.at(1),
                     words = settings.questions.document_words;
  Questions made{some_sentences(count, words > 0 ? words : 200, entities),
                 some_sentences(count, length_within(0), entities),
                 some_ids(static_cast<double>(count), entities),
                 {},
                 {}};
  for (std::int32_t i = 0; i < entities; ++i) made.markers.push_back(i), made.entity_of.push_back(i);
  for (const Split split : {Split::train, Split::valid}) encoded_[split] = made;
}

std::vector<std::string> QuestionAnsweringTask::notes() const {
  std::vector<std::string> notes = SentenceTask::notes();
  const FrequencyBaselines it = frequency_baselines(encoded_.at(Split::valid));
  notes.push_back(
      fmt::format("without reading, on valid: most frequent entity {:.2f} %, most frequent one that is not "
                  "in the question {:.2f} %",
                  it.most_frequent, it.not_in_question));
  return notes;
}

std::string QuestionAnsweringTask::size_text() const {
  const Questions& train = encoded_.at(Split::train);
  return fmt::format("{} questions about {} entities, documents of {} words on average, {}", train.size(),
                     train.markers.size(), train.documents.symbols() / train.size(),
                     vocabulary_text(vocabulary_->size()));
}

std::vector<std::int64_t> QuestionAnsweringTask::sizes() const {
  return {vocabulary_->size(), std::ssize(markers_of(*vocabulary_))};
}

std::unique_ptr<Module> QuestionAnsweringTask::make_model(const std::vector<std::int64_t>& sizes,
                                                          std::uint64_t seed, Device device) const {
  return std::make_unique<AttentiveReader>(settings.model, sizes.at(0), sizes.at(1), seed, device);
}

std::unique_ptr<Objective> QuestionAnsweringTask::make_objective(Module& model, std::uint64_t seed) {
  return std::make_unique<QuestionAnswering>(own(model), settings.train, encoded(Split::train),
                                             encoded(Split::valid), seed);
}

Scores QuestionAnsweringTask::measure(Module& model, const std::string& split,
                                      const ProgressOf& progress_of) {
  const Questions& questions = encoded(split_from_string(split));
  Scores scores =
      evaluate_reader(own(model), questions, progress_of("evaluating " + split, questions.size()));
  scores.details.insert(scores.details.begin(), {"generated_questions", texts_.generated});
  return scores;
}

// --- Questions of a user ---

namespace {

/// A question without names, and the names; an empty document: an empty line.
AnonymousQuestion read_question(const InputLine& line, const QuestionOptions& reading,
                                std::int64_t entities) {
  const std::string& name = line.name;
  std::string text = text_of_line(line.text, name, Unit::words);
  text.pop_back();  // the newline
  if (stripped(text).empty()) return {};
  check_utf8(text, name);
  const std::size_t tab = text.find('\t');
  check_input(tab != text.npos, "{}: a line is a document, a tab, and a question with {}", name, placeholder);
  AnonymousQuestion anonymized = anonymous(std::string_view(text).substr(0, tab),
                                           std::string_view(text).substr(tab + 1), entities, name);
  prepare(anonymized.document, anonymized.question, reading);
  const std::vector<std::string_view> kept = words_of(anonymized.document);
  check_input(std::any_of(kept.begin(), kept.end(), [](auto it) { return entity_number(it) >= 0; }),
              "{}: none of the sentences that match the question best (data.sentences = {}) names an entity",
              name, reading.sentences);
  return anonymized;
}

std::string name_of_entity(const AnonymousQuestion& question, std::int64_t entity) {
  const auto number = static_cast<std::size_t>(entity);
  return number < question.names.size() ? question.names[number] : entity_marker(entity);
}

/// What the model attended to in the document before it gave the answer.
Alignment alignment_of(const AnonymousQuestion& question, const Answer& answer) {
  Alignment alignment;
  for (const std::string_view word : words_of(question.document)) {
    const std::int64_t entity = entity_number(word);
    alignment.source.push_back(entity < 0 ? std::string(word) : name_of_entity(question, entity));
  }
  alignment.source.resize(answer.attention.size() - 1);  // the words that were read
  alignment.source.emplace_back(eos_symbol);
  alignment.target = {name_of_entity(question, answer.entity)};
  alignment.weights = {answer.attention};
  return alignment;
}

/// What a user should know of a document that is longer than what is read of it; else empty.
std::string note_of_length(const AnonymousQuestion& question, std::int64_t most, const std::string& name) {
  const std::int64_t words = std::ssize(words_of(question.document));
  if (words <= most) return "";
  return fmt::format(
      "{}: the document has {} words, of which this run reads the first {} (data.document_words)", name,
      words, most);
}

}  // namespace

std::vector<LineAnswer> QuestionAnsweringTask::answer(Module& model, const std::vector<InputLine>& lines) {
  const QuestionOptions& reading = settings.questions;
  std::vector<AnonymousQuestion> questions;
  QuestionText text;
  for (const InputLine& line : lines) {
    questions.push_back(read_question(line, reading, own(model).entities()));
    const AnonymousQuestion& it = questions.back();
    if (!it.document.empty()) text.add(it.document, it.question, entity_marker(0), "");
  }
  std::vector<LineAnswer> answers(lines.size());
  if (text.size() == 0) return answers;
  const auto found =
      most_probable_answers(own(model), encode_questions(text, *vocabulary_, reading.document_words));
  auto next = found.begin();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (questions[i].document.empty()) continue;
    answers[i] = {.text = name_of_entity(questions[i], next->entity),
                  .probability = next->probability,
                  .alignment = alignment_of(questions[i], *next),
                  .note = note_of_length(questions[i], reading.document_words, lines[i].name)};
    ++next;
  }
  return answers;
}

}  // namespace rondo
