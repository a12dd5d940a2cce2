// The vocabulary: symbols and their ids, made from the training text alone; text to ids and back; vocab.txt.
// It deliberately keeps no counts and writes no file (`lm` writes run folders, all in the same safe way).
// Read next: data/corpus.h.
//
// `<unk>` stands for every symbol without a row of its own, and its place says where it comes from:
// - id 0: the training text holds it, or the limits sent rare symbols to it. A type like any other: trained.
// - the last id: no training symbol maps to it. The row is reserved so that other text can be scored at all
// (its first
//   unseen word would be impossible otherwise), but it is untrained, and types() does not count it.
// All other symbols stand in the order in which the training text brings them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/symbols.h"

namespace rondo {

/// What gets a row of its own. The end-of-line symbol always does; `<unk>` in the text is never counted as
/// rare.
struct VocabularyLimits {
  std::int64_t min_count = 1;  // rarer symbols become `<unk>`
  std::int64_t max_size = 0;   // most rows, `<unk>` and `<eos>` included; the most frequent stay, the earlier
                               // of equals (0: no limit; else at least 2)
  bool reserve_unknown = true;  // a row for `<unk>` even if no training symbol needs it
};
Keys keys_of(VocabularyLimits& limits);
/// InputError for limits out of range, and for one symbol in all.
void check_options(const VocabularyLimits& limits);

/// Text as ids.
struct Encoded {
  std::vector<std::int32_t> ids;
  std::int64_t unknowns = 0;         // ids that are `<unk>`, written so in the text or not in the vocabulary
  std::vector<std::string> missing;  // the symbols that are not in the vocabulary, each once, as they came
};

class Vocabulary {
 public:
  /// From the training text. InputError for limits out of range and for text that is not of its unit.
  Vocabulary(const Text& train, Tokenization tokenization, const VocabularyLimits& limits = {})
      : Vocabulary({&train}, tokenization, limits) {}
  /// From the training text and others: their symbols get rows as well, which no target of training will ask
  /// for. The limits count in all of them.
  Vocabulary(const std::vector<const Text*>& train_and_others, Tokenization tokenization,
             const VocabularyLimits& limits = {});

  /// From the content of vocab.txt; `name` is for errors. InputError, with the line, for bad escapes, empty
  /// and repeated symbols, and symbols that are not of the unit; for words without `<eos>`.
  static Vocabulary from_text(std::string_view text, const std::string& name, Tokenization tokenization);

  /// Without symbols as yet.
  explicit Vocabulary(Tokenization tokenization) : tokenization_(tokenization) {}
  /// Gives a symbol of the unit the next id; false if it has one already.
  bool add(std::string symbol);

  /// The content of vocab.txt: a symbol a line, by escape_symbol, the line number (from 0) being the id.
  std::string to_text() const;

  const Tokenization& tokenization() const { return tokenization_; }
  std::int64_t size() const { return static_cast<std::int64_t>(symbols_.size()); }  // rows of the model: V
  std::int64_t types() const;  // distinct symbols of the texts: size(), less a reserved `<unk>`
  const std::string& symbol(std::int32_t id) const;  // Error if there is no such id
  std::optional<std::int32_t> id(std::string_view symbol) const;
  std::optional<std::int32_t> unknown_id() const { return id(unknown_symbol); }
  std::optional<std::int32_t> line_end_id() const { return id(line_end_symbol(tokenization_.unit)); }
  bool unknown_is_trained() const;  // false also if there is none

  /// Text to ids. InputError if a symbol has no row and there is no `<unk>`, and for text that is not of the
  /// unit.
  Encoded encode(std::string_view text, const std::string& name, LastLine last = LastLine::ends) const;
  Encoded encode(const Text& text) const { return encode(text.content, text.name); }

  /// Ids to text, by SymbolWriter.
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // looks up a string_view without a copy
  };

  Tokenization tokenization_;
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace rondo
