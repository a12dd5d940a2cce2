// Cloze questions made from running text, and from what a user asks; see data/sentences/questions.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "data/sentences/questions.h"

namespace rondo {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::string_view opening = "\"([", closing = "\"')].,;:!?", possessive = "'s";

/// The words of a line, without the punctuation around them, which becomes words of its own.
void add_words(std::string_view line, Words& words) {
  for (std::string_view word : words_of(line)) {
    if (word == placeholder || word == unknown_symbol || entity_number(word) >= 0) {
      words.push_back(word);
      continue;
    }
    while (word.size() > 1 && opening.find(word.front()) != opening.npos) {
      words.push_back(word.substr(0, 1));
      word.remove_prefix(1);
    }
    std::size_t letters = word.size();
    while (letters > 1 && closing.find(word[letters - 1]) != closing.npos) --letters;
    // "J." and "U.S." keep their point.
    const bool is_initial = letters + 1 == word.size() && word.back() == '.' &&
                            (letters == 1 || word.substr(0, letters).find('.') != word.npos);
    if (is_initial) letters = word.size();
    const std::string_view stem = word.substr(0, letters);
    const bool is_owner = stem.size() > possessive.size() && stem.ends_with(possessive);
    words.push_back(stem.substr(0, stem.size() - (is_owner ? possessive.size() : 0)));
    if (is_owner) words.push_back(possessive);
    for (std::size_t i = letters; i < word.size(); ++i) words.push_back(word.substr(i, 1));
  }
}

std::vector<Words> sentences_of(const Words& words) {
  std::vector<Words> sentences(1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    sentences.back().push_back(words[i]);
    if (!ends_sentence(words[i])) continue;
    // What closes a quotation belongs to the sentence before it.
    while (i + 1 < words.size() && (words[i + 1] == ")" || words[i + 1] == "]"))
      sentences.back().push_back(words[++i]);
    sentences.emplace_back();
  }
  if (sentences.back().empty()) sentences.pop_back();
  return sentences;
}

bool is_capitalised(std::string_view word) {
  return word.size() > 1 && word[0] >= 'A' && word[0] <= 'Z' &&
         std::any_of(word.begin() + 1, word.end(), [](char c) { return c != '.'; });
}

std::string joined(const Words& words, std::size_t begin, std::size_t end) {
  return fmt::format("{}", fmt::join(words.data() + begin, words.data() + end, " "));
}

/// A run of capitalised words of a sentence.
struct Mention {
  std::size_t begin, end;
  std::string name;
};

/// The index of a sentence's first word that is not punctuation.
std::size_t first_word(const Words& sentence) {
  std::size_t i = 0;
  while (i < sentence.size() && sentence[i].size() == 1 && opening.find(sentence[i][0]) != opening.npos) ++i;
  return i;
}

/// All runs, whether they are names or not: the first word of a sentence always has a capital letter.
std::vector<Mention> runs_of(const Words& sentence) {
  std::vector<Mention> runs;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    if (!is_capitalised(sentence[i])) continue;
    std::size_t end = i + 1;
    while (end < sentence.size() && is_capitalised(sentence[end])) ++end;
    runs.push_back({i, end, joined(sentence, i, end)});
    i = end;
  }
  return runs;
}

/// The entities of an article: the names that occur in the middle of one of its sentences.
class Entities {
 public:
  void add(const Words& sentence) {
    const std::size_t first = first_word(sentence);
    for (Mention& it : runs_of(sentence))
      if (it.begin > first) names_.insert(std::move(it.name));
  }

  /// Where a sentence names them. A run that begins it may be a name, or a name after a word such as The.
  std::vector<Mention> mentions(const Words& sentence) const {
    std::vector<Mention> found;
    const std::size_t first = first_word(sentence);
    for (Mention& it : runs_of(sentence)) {
      if (it.begin == first && !names_.contains(it.name)) {
        it.name = joined(sentence, ++it.begin, it.end);
        if (!names_.contains(it.name)) continue;
      }
      found.push_back(std::move(it));
    }
    return found;
  }

 private:
  std::set<std::string, std::less<>> names_;
};

/// A sentence with the markers of its entities in place of their names, and `asked` blanked.
std::string with_markers(const Words& sentence, const std::vector<Mention>& mentions,
                         const std::map<std::string, std::int64_t>& numbers, const std::string& asked = "") {
  std::vector<std::string> text;
  std::size_t at = 0;
  for (const Mention& it : mentions) {
    text.insert(text.end(), sentence.data() + at, sentence.data() + it.begin);
    text.push_back(it.name == asked ? std::string(placeholder) : entity_marker(numbers.at(it.name)));
    at = it.end;
  }
  text.insert(text.end(), sentence.data() + at, sentence.data() + sentence.size());
  return fmt::format("{}", fmt::join(text, " "));
}

struct Sentence {
  Words words;
  std::vector<Mention> mentions;
};

/// The questions of one article.
class Article {
 public:
  explicit Article(const std::vector<Words>& lines) {
    Entities entities;
    for (const Words& line : lines)
      for (Words& sentence : sentences_of(line)) sentences_.push_back({std::move(sentence), {}});
    for (const Sentence& it : sentences_) entities.add(it.words);
    for (Sentence& it : sentences_) it.mentions = entities.mentions(it.words);
  }

  void add_questions(QuestionText& to, const QuestionOptions& options) const {
    for (std::size_t i = 1; i < sentences_.size(); ++i) {
      std::size_t begin = i;
      std::int64_t words = 0;
      while (begin > 0 && words + length(begin - 1) <= options.document_words) words += length(--begin);
      add_question(to, begin, i, options.entities);
    }
  }

 private:
  std::int64_t length(std::size_t sentence) const { return std::ssize(sentences_[sentence].words); }

  /// The sentence `asked` as a question about those from `begin` to it, if it can be one.
  void add_question(QuestionText& to, std::size_t begin, std::size_t asked, std::int64_t entities) const {
    std::map<std::string, std::int64_t> numbers;  // in the order of the names
    for (std::size_t i = begin; i < asked; ++i)
      for (const Mention& it : sentences_[i].mentions) numbers.emplace(it.name, 0);
    const std::size_t in_document = numbers.size();
    std::vector<std::string> candidates;
    for (const Mention& it : sentences_[asked].mentions)
      if (numbers.contains(it.name)) candidates.push_back(it.name);
    if (in_document < 2 || candidates.empty()) return;
    for (const Mention& it : sentences_[asked].mentions) numbers.emplace(it.name, 0);
    if (std::ssize(numbers) > entities) return;

    std::mt19937_64 random = epoch_generator(0, to.size() + 1);
    std::vector<std::int64_t> order(static_cast<std::size_t>(entities));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    shuffle(order, random);
    auto next = order.begin();
    for (auto& [name, number] : numbers) number = *next++;
    const std::string& answer = candidates[random() % candidates.size()];

    std::vector<std::string> document;
    for (std::size_t i = begin; i < asked; ++i)
      document.push_back(with_markers(sentences_[i].words, sentences_[i].mentions, numbers));
    to.add(fmt::format("{}", fmt::join(document, " ")),
           with_markers(sentences_[asked].words, sentences_[asked].mentions, numbers, answer),
           entity_marker(numbers.at(answer)), to.name);
  }

  std::vector<Sentence> sentences_;
};

/// The level of a heading " = Title = " of WikiText: 1 for one sign at each end; 0: another line.
std::size_t heading_level(std::string_view line) {
  line = stripped(line);
  std::size_t level = 0;
  while (line.size() > 4 && line.starts_with("= ") && line.ends_with(" =")) {
    line = stripped(line.substr(1, line.size() - 2));
    ++level;
  }
  return level;
}

}  // namespace

QuestionText cloze_questions(const Text& text, const QuestionOptions& options) {
  QuestionText questions;
  questions.name = text.name;
  std::vector<Words> lines;
  const auto end_article = [&] {
    Article(lines).add_questions(questions, options);
    lines.clear();
  };
  for (const std::string_view line : split_lines(text.content)) {
    const std::size_t level = heading_level(line);
    if (level == 1) end_article();
    if (level > 0) continue;
    lines.emplace_back();
    add_words(line, lines.back());
  }
  end_article();
  return questions;
}

AnonymousQuestion anonymous(std::string_view document, std::string_view question, std::int64_t entities,
                            const std::string& where) {
  Words document_words, question_words;
  add_words(document, document_words);
  add_words(question, question_words);
  check_input(std::find(question_words.begin(), question_words.end(), placeholder) != question_words.end(),
              "{}: the question has no {}, the word for what is asked", where, placeholder);
  const auto is_marker = [](std::string_view word) { return entity_number(word) >= 0; };
  AnonymousQuestion result;
  if (std::any_of(document_words.begin(), document_words.end(), is_marker)) {
    for (const Words* words : {&document_words, &question_words})
      for (const std::string_view word : *words)
        check_input(entity_number(word) < entities, "{}: {}, and this run's model knows markers below {}",
                    where, word, entity_marker(entities));
    result.document = joined(document_words, 0, document_words.size());
    result.question = joined(question_words, 0, question_words.size());
    return result;
  }
  std::vector<Words> sentences = sentences_of(document_words);
  Entities known;
  for (const Words& it : sentences) known.add(it);
  known.add(question_words);
  std::map<std::string, std::int64_t> numbers;
  const auto number_all = [&](const std::vector<Mention>& mentions) {
    for (const Mention& it : mentions)
      if (numbers.emplace(it.name, std::ssize(result.names)).second) result.names.push_back(it.name);
  };
  for (const Words& it : sentences) number_all(known.mentions(it));
  check_input(
      !numbers.empty(),
      "{}: the document has no entity: names have capital letters, and one of them stands in the middle "
      "of a sentence",
      where);
  const std::vector<Mention> asked = known.mentions(question_words);
  number_all(asked);
  check_input(std::ssize(numbers) <= entities, "{}: {} entities, and this run's model knows markers for {}",
              where, numbers.size(), entities);
  std::vector<std::string> anonymized;
  for (const Words& it : sentences) anonymized.push_back(with_markers(it, known.mentions(it), numbers));
  result.document = fmt::format("{}", fmt::join(anonymized, " "));
  result.question = with_markers(question_words, asked, numbers);
  return result;
}

}  // namespace rondo
