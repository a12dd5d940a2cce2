// Triples of consecutive sentences; see data/sentences/sentence_triples.h.
#include "data/sentences/sentence_triples.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace rondo {

Keys keys_of(TripleOptions& options) {
  return {
      {"sentences", choice(options.sentences),
       "lines: a line is a sentence, an empty one ends a passage; marks: a line is a passage, in which the "
       "words . ? and ! end sentences"},
      {"max_length", &options.max_length, at_least(0), "symbols",
       "leave out training triples of which a sentence has more symbols, not counting its end; 0: keep all",
       true},
  };
}

Text one_sentence_a_line(Text text, SentenceEnds ends) {
  if (ends == SentenceEnds::lines) return text;
  std::string sentences;
  for (const std::string_view line : split_lines(text.content)) {
    for (const auto& words : split_sentences(line)) sentences += fmt::format("{}\n", fmt::join(words, " "));
    sentences += '\n';
  }
  text.content = std::move(sentences);
  return text;
}

std::int64_t Triples::scored(std::int64_t triple) const {
  const std::int64_t i = middles[static_cast<std::size_t>(triple)];
  return sentences.length(i - 1) + sentences.length(i + 1);
}

std::int64_t Triples::scored() const {
  std::int64_t symbols = 0;
  for (std::int64_t triple = 0; triple < size(); ++triple) symbols += scored(triple);
  return symbols;
}

BatchOrder::Lengths Triples::lengths(std::int64_t triple) const {
  const std::int64_t i = middles[static_cast<std::size_t>(triple)];
  return {std::max(sentences.length(i - 1), sentences.length(i + 1)), sentences.length(i)};
}

Triples triples_of(const Text& text, const Vocabulary& vocabulary, std::int64_t max_length) {
  const Sentences lines = encode_sentences(text.content, text.name, vocabulary);
  Triples triples;
  std::int64_t in_passage = 0;  // sentences since the passage began
  const auto fits = [&](std::int64_t i) {
    return max_length == 0 || triples.sentences.length(i) - 1 <= max_length;
  };
  for (std::int64_t line = 0; line < lines.size(); ++line) {
    if (lines.length(line) == 1) {
      in_passage = 0;
      continue;
    }
    triples.sentences.add(lines[line]);
    if (++in_passage < 3) continue;
    const std::int64_t middle = triples.sentences.size() - 2;
    if (fits(middle - 1) && fits(middle) && fits(middle + 1))
      triples.middles.push_back(middle);
    else
      ++triples.left_out;
  }
  check_input(triples.size() > 0 || triples.left_out == 0,
              "{}: each of its {} triples has a sentence of more than data.max_length = {} symbols",
              text.name, triples.left_out, max_length);
  check_input(
      triples.size() > 0,
      "{}: no three consecutive sentences in its {} sentences. By data.sentences = \"lines\" a sentence "
      "is a line, and an empty line ends a passage; by \"marks\" it ends with the word . ? or !, and a "
      "line is a passage; --set data.sentences=marks, or =lines, chooses",
      text.name, triples.sentences.size());
  return triples;
}

void fill_batch(TripleBatch& batch, const Triples& triples, const SentenceBatchOptions& /*options*/,
                std::span<const std::int64_t> whole, const BatchOrder& /*order*/) {
  for (const std::int64_t triple : whole) batch.scored += triples.scored(triple);
  std::vector<std::span<const std::int32_t>> previous, middle, next;
  for (const std::int64_t triple : batch.share.of(whole)) {
    const std::int64_t i = triples.middles[static_cast<std::size_t>(triple)];
    previous.push_back(triples.sentences[i - 1]);
    middle.push_back(triples.sentences[i]);
    next.push_back(triples.sentences[i + 1]);
  }
  batch.previous = shifted(previous);
  batch.middle = padded(middle);
  batch.next = shifted(next);
}

}  // namespace rondo
