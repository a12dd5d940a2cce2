// Cloze questions over a document whose entities have no names. Hermann et al. 2015, "Teaching Machines to
// Read and Comprehend": @entity3 stands for an entity wherever it is mentioned, @placeholder for the one that
// is asked for, and numbers differ from question to question, so that only the document tells the answer.
//
//   document   the @entity0 was built in 1889 by @entity7 for a fair in @entity2 .
//   question   @placeholder also designed bridges .
//   answer     @entity7
//
// The files have the format of the CNN corpus; docs/cloze.py makes such files from any text. Read next:
// nn/models/attentive_reader.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sentences/sentence_batches.h"
#include "data/text/vocabulary.h"

namespace rondo {

inline constexpr std::string_view placeholder = "@placeholder";

/// Numbers of entities are below this.
inline constexpr std::int64_t most_entities = 10000;
/// "@entity3".
std::string entity_marker(std::int64_t number);
/// The number of such a word; -1 for any other word.
std::int64_t entity_number(std::string_view word);

/// The questions of a split: line i of both texts, and the number of the entity that answers it.
struct QuestionText {
  std::string name;                   // for messages: printable
  std::string documents, questions;   // words separated by spaces, a line each
  std::vector<std::int32_t> answers;  // numbers of entities
  std::string left_out;               // the note about files that are no questions; empty: none

  std::int64_t size() const { return std::ssize(answers); }
  /// Adds one. InputError, beginning with `where`, for a line of no word, a question without `@placeholder`,
  /// and an answer that is no marker of an entity.
  void add(std::string_view document, std::string_view question, std::string_view answer,
           const std::string& where);
};

struct QuestionOptions {
  std::int64_t sentences = 0;         // of a document, those that match its question best; 0: all
  bool merge_numbers = false;         // words of digits, points and commas become NUM
  std::int64_t document_words = 200;  // longer documents lose their end
};
Keys keys_of(QuestionOptions& options);

/// Reduces a document and its question to what is read of them, by `sentences` and `merge_numbers`, as
/// Cooijmans et al. prepare the CNN corpus (arXiv 1603.09025v4, section 5.4: "the top-4 sentences" by a
/// "normalized score obtained with the string-match"). They do not print their score; ours is Dice's
/// coefficient of the two sets of words. Sentences keep their order.
void prepare(std::string& document, std::string& question, const QuestionOptions& options);

/// Adds what is read of one file of the CNN corpus: the paragraphs address, document, question and answer,
/// then a line "@entity0:name" for each entity, which is not read. InputError for other texts, and those of
/// QuestionText::add().
void add_question_file(QuestionText& to, std::string_view content, const std::string& name,
                       const QuestionOptions& options = {});

using QuestionTexts = Splits<QuestionText>;

/// Reads a folder with `training`, `validation` and perhaps `test`, whose files NAME.question are in the
/// format of the CNN corpus. Files that add_question_file() refuses are left out; InputError if all are, and
/// for other folders and files.
QuestionTexts open_questions(const std::filesystem::path& path, const QuestionOptions& options);

/// The words of the training text for a vocabulary: all markers first, `@entity0` to the highest one, then
/// documents and questions. Each marker occurs at least `min_count` times, so that each gets a row.
Text text_for_vocabulary(const QuestionText& train, std::int64_t min_count);

/// Questions as ids. The answer -1 is an entity that has no row, which cannot be found.
struct Questions {
  Sentences documents, questions;
  std::vector<std::int32_t> answers;    // numbers of entities
  std::vector<std::int32_t> markers;    // the id of each entity's marker, by its number
  std::vector<std::int32_t> entity_of;  // and the reverse: the number of each id; -1: another word

  std::int64_t size() const { return documents.size(); }
  std::int64_t scored() const { return size(); }
  BatchOrder::Lengths lengths(std::int64_t i) const { return {documents.length(i), questions.length(i)}; }
};
/// The markers of a vocabulary in the order of their numbers; at least 2, or InputError.
std::vector<std::int32_t> markers_of(const Vocabulary& vocabulary);
/// Throws InputError if a limit of the vocabulary left out a marker of the training text.
void check_has_all_markers(const Vocabulary& vocabulary, const QuestionText& train);
/// InputErrors of encode_sentences() and markers_of(). Documents are cut to `document_words`.
Questions encode_questions(const QuestionText& text, const Vocabulary& vocabulary,
                           std::int64_t document_words);

// --- Batches ---
// Documents of similar length are batched together. In each epoch the entities of a question can get other
// numbers, so that a model cannot learn what a number stands for in one question; in epoch 0 none does.

struct QuestionBatchOptions {
  std::int64_t batch = 32;  // questions
  bool renumber = true;     // give the entities of each question other markers in each epoch
};
Keys keys_of(QuestionBatchOptions& options);

struct QuestionBatch {
  BatchShare share;                      // of the whole batch
  PaddedSentences documents, questions;  // of B questions
  std::vector<std::int32_t> answers;     // [B]: numbers of entities; -1: one that the vocabulary lacks
  std::vector<std::int64_t> indices;     // [B]: of each question in its text
};

using QuestionBatches = BatchesOf<Questions, QuestionBatch, QuestionBatchOptions>;
inline SentenceBatchOptions order_of(const QuestionBatchOptions& options) { return {.batch = options.batch}; }
void fill_batch(QuestionBatch& batch, const Questions& questions, const QuestionBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& order);

}  // namespace rondo
