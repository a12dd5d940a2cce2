// Pairs of sentences as ids; see data/sentences/pairs.h.
#include "data/sentences/pairs.h"

#include <algorithm>

#include "tensor/error.h"

namespace rondo {

namespace {

/// InputError if a word is the symbol that ends a line: then a line has two ends.
void check_line_ends(std::string_view text, const std::string& name, Tokenization tokenization) {
  if (tokenization.unit != Unit::words) return;
  const std::string_view line_end = line_end_symbol(tokenization.unit);
  SymbolReader reader(text, tokenization, name);
  for (std::int64_t ended = 0; const auto symbol = reader.next();) {
    if (*symbol != line_end) continue;
    check_input(reader.line() != ended, "{}: line {}: the word {} stands for the end of a line; remove it",
                name, ended, line_end);
    ended = reader.line();
  }
}

}  // namespace

void Sentences::add(std::span<const std::int32_t> sentence) {
  check(!sentence.empty(), "[sentences] a sentence has at least its end symbol");
  ids_.insert(ids_.end(), sentence.begin(), sentence.end());
  ends_.push_back(std::ssize(ids_));
}

std::span<const std::int32_t> Sentences::operator[](std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  const std::int64_t begin = i > 0 ? ends_[i - 1] : 0;
  return std::span(ids_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(ends_[i] - begin));
}

std::int64_t Sentences::count(std::int32_t id) const { return std::count(ids_.begin(), ids_.end(), id); }

Sentences encode_sentences(std::string_view text, const std::string& name, const Vocabulary& vocabulary) {
  const auto line_end = vocabulary.line_end_id();
  check_input(line_end.has_value(), "{}: the vocabulary has no symbol for the end of a line", name);
  std::string ended;  // other units than words give a last line without a newline no end symbol
  if (!text.empty() && !text.ends_with('\n')) text = ended = std::string(text) + '\n';
  check_line_ends(text, name, vocabulary.tokenization());

  Sentences sentences;
  const std::vector<std::int32_t> ids = vocabulary.encode(text, name).ids;
  for (auto begin = ids.begin(); begin != ids.end();) {
    const auto end = std::find(begin, ids.end(), *line_end) + 1;
    sentences.add({begin, end});
    begin = end;
  }
  return sentences;
}

Keys keys_of(PairOptions& options) {
  return {
      {"shared_vocabulary", &options.shared_vocabulary, {}, "", "one vocabulary, made from both languages"},
      {"max_length", &options.max_length, at_least(0), "symbols",
       "leave out training pairs in which a side has more symbols, not counting its end; 0: keep all", true},
  };
}

PairVocabularies vocabularies_of(const TextPair& train, Tokenization tokenization,
                                 const VocabularyLimits& limits, bool shared) {
  if (!shared)
    return {Vocabulary(train.source, tokenization, limits), Vocabulary(train.target, tokenization, limits)};
  // One text, not the list of texts that Vocabulary accepts: the second of these would not be training text.
  const Text both{.name = fmt::format("{} and {}", train.source.name, train.target.name),
                  .content = train.source.content + train.target.content,
                  .sha256 = {},
                  .notes = {}};
  const Vocabulary vocabulary(both, tokenization, limits);
  return {vocabulary, vocabulary};
}

namespace {

Pairs encode(const TextPair& texts, const PairVocabularies& vocabularies, std::int64_t max_length,
             bool without_empty) {
  Pairs pairs{.source = encode_sentences(texts.source.content, texts.source.name, vocabularies.source),
              .target = encode_sentences(texts.target.content, texts.target.name, vocabularies.target)};
  check(pairs.source.size() == pairs.target.size(), "[pairs] {} and {} sentences", pairs.source.size(),
        pairs.target.size());
  if (max_length == 0 && !without_empty) return pairs;

  Pairs kept;
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    const auto [shorter, longer] = std::minmax({pairs.source.length(i), pairs.target.length(i)});
    if (max_length > 0 && longer - 1 > max_length) {
      ++kept.left_out;
    } else if (without_empty && shorter == 1) {
      ++kept.empty;
    } else {
      kept.source.add(pairs.source[i]);
      kept.target.add(pairs.target[i]);
    }
  }
  check_input(kept.size() + kept.empty > 0, "{} and {}: all {} pairs have more than max_length = {} symbols",
              texts.source.name, texts.target.name, kept.left_out, max_length);
  check_input(kept.left_out > 0 || kept.size() > 0, "{} and {}: all {} pairs have an empty side",
              texts.source.name, texts.target.name, kept.empty);
  check_input(kept.size() > 0,
              "{} and {}: no pair is left: {} have more than max_length = {} symbols, {} an empty side",
              texts.source.name, texts.target.name, kept.left_out, max_length, kept.empty);
  return kept;
}

}  // namespace

Pairs encode_pairs(const TextPair& texts, const PairVocabularies& vocabularies, std::int64_t max_length) {
  return encode(texts, vocabularies, max_length, texts.has_gaps);
}

Pairs training_pairs(const TextPair& texts, const PairVocabularies& vocabularies, std::int64_t max_length) {
  return encode(texts, vocabularies, max_length, true);
}

}  // namespace rondo
