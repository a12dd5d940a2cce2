// The vocabulary: symbols and their ids, made from a text or read from a file; text to ids and back;
// vocab.txt. Next: data/text/corpus.h; for pieces data/text/pieces.h, which says what their symbols are: the
// limits and `<unk>` are only for the other units.
//
// `<unk>` stands for every symbol without a row of its own. Its id says whether it is trained:
// - id 0: the training text contains it, or the limits mapped rare symbols to it. It is trained like any
//   type.
// - the last id: no training symbol maps to it. The row is reserved so that other text can be scored (an
//   unseen word would have probability 0 otherwise), but it is untrained, and types() does not count it.
// All other symbols are in the order of their first occurrence in the training text, or by their frequency.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/text/pieces.h"
#include "data/text/source.h"
#include "data/text/symbols.h"

namespace rondo {

/// Which symbols get a row of their own. The end-of-line symbol always does; `<unk>` in the text never counts
/// as rare.
struct VocabularyLimits {
  std::int64_t min_count = 1;   // rarer symbols become `<unk>`
  std::int64_t max_size = 0;    // maximum of rows, including `<unk>` and `<eos>`; the most frequent stay, the
                                // earlier of equals (0: no limit; else at least 2)
  bool reserve_unknown = true;  // a row for `<unk>` even if no training symbol needs it
};
Keys keys_of(VocabularyLimits& limits);
/// Throws InputError for limits out of range, and for one symbol in all.
void check_options(const VocabularyLimits& limits);

/// The order of the symbols other than `<unk>`: by first occurrence in the texts; or from the most to the
/// least frequent in the training text, equals by first occurrence, as an adaptive softmax needs them
/// (nn/output/adaptive_softmax.h). Pieces are in the order of their model, which is nearly that of frequency.
enum class SymbolOrder { first_occurrence, frequency };

/// Text as ids.
struct Encoded : IdCounts {
  std::vector<std::int32_t> ids;
  std::vector<std::string> missing;  // the symbols that are not in the vocabulary, each once, in order
};

/// Symbols and their numbers, in the order in which they came.
class SymbolNumbers {
 public:
  /// The number of a symbol, which is new if it had none: then it gets the next one, from 0.
  std::pair<std::int32_t, bool> add(std::string_view symbol);
  /// The number, or `none`.
  std::int32_t find(std::string_view symbol) const;
  static constexpr std::int32_t none = -1;

  /// By number.
  const std::vector<std::string>& symbols() const { return symbols_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // so that a string_view is looked up without a copy
  };
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

class Vocabulary {
 public:
  /// From the training text. InputError for limits out of range and for text that is not of its unit.
  Vocabulary(const Text& train, Tokenization tokenization, const VocabularyLimits& limits = {},
             SymbolOrder order = SymbolOrder::first_occurrence)
      : Vocabulary({&train}, tokenization, limits, order) {}
  /// From the training text and others: their symbols get rows as well, which are never targets in training.
  /// The limits count occurrences in all texts. Pieces are learnt from the training text alone.
  Vocabulary(const std::vector<const Text*>& train_and_others, Tokenization tokenization,
             const VocabularyLimits& limits = {}, SymbolOrder order = SymbolOrder::first_occurrence);

  /// From the content of vocab.txt; `name` is for errors. InputError, with the line, for bad escapes, empty
  /// and repeated symbols, and symbols that are not of the unit; for words without `<eos>`. A vocabulary of
  /// pieces then needs read_pieces() before it can encode.
  static Vocabulary from_text(std::string_view text, const std::string& name, Tokenization tokenization);

  /// Without symbols.
  explicit Vocabulary(Tokenization tokenization) : tokenization_(tokenization) {}
  /// Gives a symbol of the unit the next id; false if it has one already.
  bool add(const std::string& symbol);

  /// Takes the model of the pieces from its bytes; `name` is for errors. InputErrors of PieceModel, and for a
  /// model of other symbols.
  void read_pieces(std::string bytes, const std::string& name);
  /// The model of the pieces; null for other units, and before read_pieces().
  const PieceModel* pieces() const { return pieces_.get(); }

  /// The content of vocab.txt: one symbol per line, by escape_symbol; the line number (from 0) is the id.
  std::string to_text() const;

  const Tokenization& tokenization() const { return tokenization_; }
  std::int64_t size() const { return std::ssize(table_.symbols()); }  // rows of the model: V
  std::int64_t types() const;  // distinct symbols of the texts: size(), less a reserved `<unk>`
  const std::string& symbol(std::int32_t id) const;  // Error if there is no such id
  std::optional<std::int32_t> id(std::string_view symbol) const;
  std::optional<std::int32_t> unknown_id() const { return id(unknown_symbol); }
  std::optional<std::int32_t> line_end_id() const { return id(line_end_symbol(tokenization_.unit)); }
  bool unknown_is_trained() const;  // false also if there is none

  /// Text to ids. InputError if a symbol has no row and there is no `<unk>`, for text that is not of the
  /// unit, and for pieces without sentencepiece.
  Encoded encode(std::string_view text, const std::string& name, LastLine last = LastLine::ends,
                 std::int64_t lines_before = 0, bool lists_missing = true) const;
  Encoded encode(
      const Text& text) const;  // Error if it is not held in memory: encode_text() of data/text/corpus.h
  Encoded encode(const Block& block, const std::string& name) const;  // lists no missing symbols

  /// Ids to text, by SymbolWriter.
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  Tokenization tokenization_;
  std::shared_ptr<const PieceModel> pieces_;
  SymbolNumbers table_;  // of ids
};

}  // namespace rondo
