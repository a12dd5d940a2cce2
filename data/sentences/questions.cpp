// Cloze questions: the format of the CNN corpus, their ids, and their batches.
#include "data/sentences/questions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace rondo {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view entity_prefix = "@entity";

/// All questions of a folder, in the order of their names, and one digest of names and contents.
QuestionText read_folder(const fs::path& folder, const QuestionOptions& options,
                         std::vector<FileDigest>& files) {
  QuestionText text;
  text.name = printable(folder.string());
  std::vector<fs::path> paths;
  for (const fs::directory_entry& it : fs::directory_iterator(folder))
    if (it.path().extension() == ".question") paths.push_back(it.path());
  std::ranges::sort(paths);
  check_input(!paths.empty(), "{}: no files NAME.question in it", text.name);
  Sha256 digest;
  text.left_out = use_each(paths, "questions", [&](const fs::path& path) {
    const std::string content = read_file(path, Pipes::refused, 16 << 20);
    digest.update(path.filename().string() + '\n');
    digest.update(content);
    add_question_file(text, content, printable(path.string()), options);
  });
  files.push_back({folder.string(), digest.hex()});
  return text;
}

std::string first_words(std::string_view line, std::int64_t words) {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < words && at != line.npos; ++i) at = line.find(' ', at + (i > 0 ? 1 : 0));
  return std::string(line.substr(0, at));
}

}  // namespace

std::string entity_marker(std::int64_t number) { return fmt::format("{}{}", entity_prefix, number); }

std::int64_t entity_number(std::string_view word) {
  if (!word.starts_with(entity_prefix)) return -1;
  word.remove_prefix(entity_prefix.size());
  const std::int64_t number = parse_integer(word).value_or(-1);
  return number >= 0 && number < most_entities ? number : -1;
}

void QuestionText::add(std::string_view document, std::string_view question, std::string_view answer,
                       const std::string& where) {
  document = stripped(document);
  question = stripped(question);
  check_input(!document.empty() && !question.empty(), "{}: an empty document or question", where);
  check_input(has_word(question, placeholder), "{}: the question has no {}", where, placeholder);
  const std::int64_t number = entity_number(stripped(answer));
  check_input(number >= 0, "{}: the answer '{}' is no entity, such as @entity0", where, excerpt(answer));
  documents += document;
  documents += '\n';
  questions += question;
  questions += '\n';
  answers.push_back(static_cast<std::int32_t>(number));
}

void add_question_file(QuestionText& to, std::string_view content, const std::string& name,
                       const QuestionOptions& options) {
  check_is_text(content, name);
  std::vector<std::string_view> parts;
  for (const std::string_view line : split_lines(content))
    if (!stripped(line).empty() && parts.size() < 4) parts.push_back(line);
  check_input(parts.size() == 4,
              "{}: not a question of the CNN corpus: address, document, question and answer, with an empty "
              "line between them",
              name);
  std::string document(parts[1]), question(parts[2]);
  prepare(document, question, options);
  to.add(document, question, parts[3], name);
}

Keys keys_of(QuestionOptions& options) {
  return {{"sentences", &options.sentences, at_least(0), "sentences",
           "of a document that are read, those that match its question best; 0: all"},
          {"merge_numbers", &options.merge_numbers,
           "read every number, a word of digits, points and commas, as the one word NUM"},
          {"document_words", &options.document_words, between(1, 100000), "words",
           "of a document that are read: longer ones lose their end"}};
}

namespace {

/// Dice's coefficient of two sets of words: 1 if they are equal, 0 if they have no word in common.
double match(const std::set<std::string_view>& one, const std::set<std::string_view>& other) {
  const auto common = std::ranges::count_if(one, [&](const auto& it) { return other.contains(it); });
  return 2 * static_cast<double>(common) / static_cast<double>(one.size() + other.size());
}

std::string best_sentences(const std::string& document, const std::string& question, std::int64_t count) {
  const std::vector<std::vector<std::string_view>> sentences = split_sentences(document);
  const auto set_of = [](const auto& words) {
    return std::set<std::string_view>(words.begin(), words.end());
  };
  const auto asked = set_of(split_words(question));
  std::vector<double> scores;
  for (const auto& it : sentences) scores.push_back(match(asked, set_of(it)));
  std::vector<std::size_t> best(sentences.size());
  std::iota(best.begin(), best.end(), 0);
  std::ranges::stable_sort(best, [&](auto a, auto b) { return scores[a] > scores[b]; });
  best.resize(std::min(best.size(), static_cast<std::size_t>(count)));
  std::ranges::sort(best);
  std::vector<std::string_view> kept;
  for (const std::size_t i : best) kept.insert(kept.end(), sentences[i].begin(), sentences[i].end());
  return fmt::format("{}", fmt::join(kept, " "));
}

/// "1,200" and "3.5", but not "1st".
bool is_number(std::string_view word) {
  return word.front() >= '0' && word.front() <= '9' && word.find_first_not_of("0123456789.,") == word.npos;
}

std::string with_merged_numbers(const std::string& line) {
  std::vector<std::string_view> words = split_words(line);
  std::ranges::replace_if(words, is_number, std::string_view("NUM"));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

void prepare(std::string& document, std::string& question, const QuestionOptions& options) {
  if (options.merge_numbers)
    for (std::string* it : {&document, &question}) *it = with_merged_numbers(*it);
  if (options.sentences > 0) document = best_sentences(document, question, options.sentences);
}

namespace {

/// Returns the highest number of an entity. An answer counts, too, as the sentences that are kept need not
/// name it.
std::int64_t highest_entity(const QuestionText& train) {
  std::int64_t highest = train.answers.empty() ? 0 : std::ranges::max(train.answers);
  for (const std::string_view text : {std::string_view(train.documents), std::string_view(train.questions)})
    for (std::size_t at = text.find(entity_prefix); at != text.npos; at = text.find(entity_prefix, at + 1)) {
      const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
      highest = std::max(highest, entity_number(text.substr(at, end - at)));
    }
  return highest;
}

/// Returns a line about the documents of a folder that lose their end or do not name the answer; empty if
/// there are none.
std::string note_of_documents(const QuestionText& text, std::int64_t words) {
  std::int64_t cut = 0, unnamed = 0;
  const std::vector<std::string_view> documents = split_lines(text.documents);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string kept = first_words(documents[i], words);
    cut += kept.size() < documents[i].size();
    unnamed += !has_word(kept, entity_marker(text.answers[i]));
  }
  if (cut == 0 && unnamed == 0) return "";
  return fmt::format(
      "{}: {} of {} documents have more than data.document_words = {} words and lose their end; {} do not "
      "name the answer in what is read of them",
      text.name, cut, text.size(), words, unnamed);
}

}  // namespace

QuestionTexts open_questions(const fs::path& path, const QuestionOptions& options) {
  const std::string expected = fmt::format(
      ": the questions of {} are files training/NAME.question, validation/NAME.question and "
      "perhaps test/NAME.question; docs/cloze.py makes them from a text",
      printable(path.string()));
  QuestionTexts texts;
  for (const auto& [split, name] :
       {std::pair(Split::train, "training"), {Split::valid, "validation"}, {Split::test, "test"}}) {
    if (split == Split::test && !file_is_there(path / name)) continue;
    check_is_folder(path / name, expected);
    texts[split] = read_folder(path / name, options, texts.files);
    for (const std::string& note :
         {texts[split].left_out, note_of_documents(texts[split], options.document_words)})
      if (!note.empty()) texts.notes.push_back(note);
  }
  return texts;
}

Text text_for_vocabulary(const QuestionText& train, std::int64_t min_count) {
  const std::int64_t highest = highest_entity(train);
  std::string markers;
  for (std::int64_t i = 0; i <= highest; ++i) markers += entity_marker(i) + ' ';
  markers += '\n';
  Text text;
  text.name = train.name;
  for (std::int64_t i = 0; i < min_count; ++i) text.content += markers;
  text.content += train.documents + train.questions;
  return text;
}

std::vector<std::int32_t> markers_of(const Vocabulary& vocabulary) {
  std::vector<std::int32_t> markers;
  while (const auto id = vocabulary.id(entity_marker(std::ssize(markers)))) markers.push_back(*id);
  check_input(
      markers.size() >= 2,
      "a reader needs the markers of 2 or more entities, and the vocabulary has {}: the training questions "
      "need more entities, or data.max_size is too small",
      markers.size());
  return markers;
}

void check_has_all_markers(const Vocabulary& vocabulary, const QuestionText& train) {
  const std::int64_t needed = highest_entity(train) + 1;
  std::int64_t there = 0;
  for (std::int64_t i = 0; i < needed; ++i) there += vocabulary.id(entity_marker(i)).has_value();
  check_input(there == needed,
              "data.max_size leaves {} of {} markers of entities in the vocabulary: make it larger", there,
              needed);
}

Questions encode_questions(const QuestionText& text, const Vocabulary& vocabulary,
                           std::int64_t document_words) {
  Questions result;
  result.markers = markers_of(vocabulary);
  result.entity_of.assign(static_cast<std::size_t>(vocabulary.size()), -1);
  for (std::size_t i = 0; i < result.markers.size(); ++i)
    result.entity_of[static_cast<std::size_t>(result.markers[i])] = static_cast<std::int32_t>(i);
  std::string documents;
  for (const std::string_view line : split_lines(text.documents))
    documents += first_words(line, document_words) + '\n';
  result.documents = encode_sentences(documents, text.name, vocabulary);
  result.questions = encode_sentences(text.questions, text.name, vocabulary);
  for (const std::int32_t answer : text.answers)
    result.answers.push_back(answer < std::ssize(result.markers) ? answer : -1);
  return result;
}

// --- Batches ---

Keys keys_of(QuestionBatchOptions& options) {
  return {{"batch", &options.batch, any_count(), "questions", "of an update"},
          {"renumber_entities", &options.renumber,
           "give the entities of each question other markers in each epoch"}};
}

void fill_batch(QuestionBatch& batch, const Questions& questions, const QuestionBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& order) {
  const std::span<const std::int64_t> chosen = batch.share.of(whole);
  batch.indices.assign(chosen.begin(), chosen.end());
  batch.documents = padded(questions.documents.at(chosen));
  batch.questions = padded(questions.questions.at(chosen));
  for (std::size_t b = 0; b < chosen.size(); ++b) {
    std::vector<std::int32_t> numbers(questions.markers.size());  // the new ones
    std::iota(numbers.begin(), numbers.end(), 0);
    if (options.renumber && order.epoch() > 0) {
      std::mt19937_64 random = epoch_generator(order.seed(), order.epoch() * questions.size() + chosen[b]);
      shuffle(numbers, random);
    }
    for (PaddedSentences* side : {&batch.documents, &batch.questions})
      for (std::size_t i = b; i < side->ids.size(); i += chosen.size()) {
        const std::int32_t entity = questions.entity_of[static_cast<std::size_t>(side->ids[i])];
        if (entity < 0) continue;
        const auto number = static_cast<std::size_t>(numbers[static_cast<std::size_t>(entity)]);
        side->ids[i] = questions.markers[number];
      }
    const std::int32_t answer = questions.answers[static_cast<std::size_t>(chosen[b])];
    batch.answers.push_back(answer < 0 ? -1 : numbers[static_cast<std::size_t>(answer)]);
  }
}

}  // namespace rondo
