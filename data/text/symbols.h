// Text to symbols and back. A symbol is a string: a word, a part of a word, the UTF-8 of one code point, or
// one byte; depending on the Unit. Read next: data/text/vocabulary.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text/text.h"
#include "tensor/keys.h"

namespace rondo {

/// How pieces are learnt and how words are divided into them; see data/text/pieces.h.
enum class PieceModelKind { unigram, bpe };
inline std::vector<std::string> names_of(PieceModelKind) { return {"unigram", "bpe"}; }
class PieceModel;

inline constexpr std::string_view eos_symbol = "<eos>";
inline constexpr std::string_view unknown_symbol = "<unk>";

/// How text becomes symbols.
struct Tokenization {
  Unit unit = Unit::words;
  /// All except words: drop the white space around each line, and end the last line in a newline as well
  /// (the Penn Treebank character experiments, Mikolov et al. 2012). For words this has no effect.
  bool strip_lines = false;
  PieceModelKind pieces_model = PieceModelKind::unigram;
  std::int64_t pieces = 8000;  // rows of the vocabulary of pieces, single bytes included
  bool tokenize = false;       // words: punctuation is separated, by words_of_13a() of data/text/unicode.h
  bool lowercase = false;      // all except bytes: by lower_case() of data/text/unicode.h
};
Keys keys_of(Tokenization& tokenization);
/// Throws InputError for a setting where it changes nothing.
void check_options(const Tokenization& tokenization);

/// The symbol that ends a line: `<eos>`, or the newline.
std::string_view line_end_symbol(Unit unit);

/// Whether text of this unit can contain the symbol; always true for `<unk>`.
bool is_of_unit(std::string_view symbol, Unit unit);

/// A symbol as vocab.txt writes it: `\\`, `\n`, `\t`, and `\xNN` for blanks, other control characters and
/// bytes that are not UTF-8; and the inverse, which returns nothing for any other escape.
std::string escape_symbol(std::string_view symbol);
std::optional<std::string> unescape_symbol(std::string_view text);

/// Whether a last line without a newline is a complete line, or continues (the prompt of a generation): then
/// it gets no end-of-line symbol and keeps its trailing spaces.
enum class LastLine { ends, goes_on };

/// Reads a text symbol by symbol. The text must outlive the reader and what it returned.
class SymbolReader {
 public:
  /// For pieces with their model, which must outlive the reader.
  SymbolReader(std::string_view text, Tokenization tokenization, std::string name,
               LastLine last = LastLine::ends, const PieceModel* pieces = nullptr);

  /// The next symbol, or nothing at the end; a piece is valid until the next call. InputError for text that
  /// is not UTF-8 where the unit needs it.
  std::optional<std::string_view> next();

  /// The line of the last symbol, from 1.
  std::int64_t line() const { return line_; }
  /// The bytes of the text up to the end of the last symbol; where words are changed, of its word.
  std::size_t position() const;

 private:
  void open_line();
  std::size_t symbol_length() const;
  void open_word();
  std::vector<std::string> symbols_of(const std::string& word) const;

  std::string_view text_;
  Tokenization tokenization_;
  std::string name_;
  LastLine last_;
  std::size_t at_ = 0;
  bool in_line_ = false;
  bool is_line_begin_ = false;   // nothing of the current line has been read
  std::size_t content_end_ = 0;  // in the current line: the end of its content
  std::size_t newline_ = 0;      // in the current line: its newline, or text_.size()
  std::int64_t line_ = 0;

  using Pieces = std::vector<std::string>;
  const PieceModel* pieces_;
  bool changes_words_;                             // what is read is not what is written
  std::unordered_map<std::string, Pieces> words_;  // those already divided
  const Pieces* word_ = nullptr;                   // the current one,
  std::size_t piece_ = 0;                          // and its next piece
};

/// Symbols to text, one symbol at a time: words are joined by spaces, `<eos>` becomes a newline; the space
/// before the first piece of a line is left out.
class SymbolWriter {
 public:
  explicit SymbolWriter(Unit unit) : unit_(unit) {}

  /// Returns the text to print for this symbol, given those before it.
  std::string next(std::string_view symbol);

 private:
  Unit unit_;
  bool line_start_ = true;
};

}  // namespace rondo
