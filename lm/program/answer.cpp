// `lm answer`.
#include "lm/program/answer.h"

#include <algorithm>

#include "data/cloze.h"
#include "data/text.h"
#include "lm/program/attention_file.h"
#include "lm/program/input_lines.h"
#include "lm/program/output.h"
#include "lm/program/question_answering_measurement.h"

namespace rondo {
namespace {

/// A line of standard input: its question without names, and the names; an empty document: an empty line.
using Line = AnonymousQuestion;

const QuestionOptions& reading_options(const OpenReader& run) {
  return run.config.recipe.question_answering.data.questions;
}

Line read_line(const std::string& line, const std::string& name, const OpenReader& run) {
  std::string text = text_of_line(line, name, Unit::words);
  text.pop_back();  // the newline
  if (stripped(text).empty()) return {};
  check_utf8(text, name);
  const std::size_t tab = text.find('\t');
  check_input(tab != text.npos, "{}: a line is a document, a tab, and a question with {}", name, placeholder);
  Line anonymized = anonymous(std::string_view(text).substr(0, tab), std::string_view(text).substr(tab + 1),
                              run.model->entities(), name);
  prepare(anonymized.document, anonymized.question, reading_options(run));
  const std::vector<std::string_view> kept = words_of(anonymized.document);
  check_input(std::any_of(kept.begin(), kept.end(), [](auto it) { return entity_number(it) >= 0; }),
              "{}: none of the sentences that match the question best (data.sentences = {}) names an entity",
              name, reading_options(run).sentences);
  const std::int64_t words = std::ranges::count(anonymized.document, ' ') + 1,
                     read = reading_options(run).document_words;
  if (words > read)
    fmt::print(
        stderr,
        "lm: {}: the document has {} words, of which this run reads the first {} (data.document_words)\n",
        name, words, read);
  return anonymized;
}

std::string name_of_entity(const Line& line, std::int32_t entity) {
  const auto number = static_cast<std::size_t>(entity);
  return number < line.names.size() ? line.names[number] : entity_marker(entity);
}

/// What the model attended to in the document before it gave the answer.
Alignment alignment_between(const Line& line, const Answer& answer) {
  Alignment alignment;
  for (std::string_view rest = line.document; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::int64_t entity = entity_number(rest.substr(0, end));
    alignment.source.push_back(entity < 0 ? std::string(rest.substr(0, end))
                                          : name_of_entity(line, static_cast<std::int32_t>(entity)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  alignment.source.resize(answer.attention.size() - 1);  // the words that were read
  alignment.source.emplace_back(eos_symbol);
  alignment.target = {name_of_entity(line, answer.entity)};
  alignment.weights = {answer.attention};
  return alignment;
}

void answer_all(const OpenReader& run, const std::vector<Line>& lines, bool scores, AttentionFile& file) {
  QuestionText text;
  for (const Line& it : lines)
    if (!it.document.empty()) text.add(it.document, it.question, entity_marker(0), "");
  std::vector<Answer> answers;
  if (text.size() > 0)
    answers = most_probable_answers(
        *run.model, encode_questions(text, run.vocabulary, reading_options(run).document_words));
  auto next = answers.begin();
  for (const Line& it : lines) {
    if (!it.document.empty()) {
      fmt::print("{}", name_of_entity(it, next->entity));
      if (scores) fmt::print("\t{:.4f}", next->probability);
      if (file) file.add(alignment_between(it, *next));
      ++next;
    }
    fmt::print("\n");
  }
  flush_output();
}

}  // namespace

int answer(const AnswerOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  const OpenReader run = open_reader(options.run, device);
  AttentionFile file(options.attention);
  InputLines lines;
  const auto read = [&](const std::string& line, const std::string& name) {
    return read_line(line, name, run);
  };
  file.fill([&] {
    answer_lines(lines, read,
                 [&](const std::vector<Line>& some) { answer_all(run, some, options.scores, file); });
  });
  return 0;
}

}  // namespace rondo
