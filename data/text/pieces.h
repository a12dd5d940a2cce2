// Pieces: parts of words, learnt from the training text by the library sentencepiece, which is optional: Kudo
// & Richardson 2018, "SentencePiece" (arXiv 1808.06226). Two models: unigram (Kudo 2018, "Subword
// Regularization", arXiv 1804.10959) and bpe (Sennrich, Haddow & Birch 2016, "Neural Machine Translation of
// Rare Words with Subword Units", arXiv 1508.07909). Read next: data/text/symbols.h, whose SymbolReader
// divides text into pieces.
//
// A symbol stands for its own bytes, so that text is the concatenation of its symbols:
// - A word keeps the space before it: " the". The first word of a line gets one as well, which SymbolWriter
//   removes, so that a word has the same pieces at any place.
// - What has no piece, such as a rare character, is written in single bytes: all that occur in UTF-8 are
//   symbols, and so there is no `<unk>`. The newline is one of them.
// - Text is not normalised.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/symbols.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace rondo {

/// Whether this program was built with sentencepiece.
bool has_sentencepiece();
/// InputError that says how to get it.
[[noreturn]] void throw_no_sentencepiece();

class PieceModel {
 public:
  /// Learns `tokenization.pieces` symbols from a text; equal texts and settings give equal bytes. InputError
  /// for text that has too few or too many different parts for this number, and without sentencepiece.
  static PieceModel learnt_from(const Text& text, const Tokenization& tokenization);

  /// From bytes(); `name` is for errors. InputError if they are no model, or if it has what learnt_from()
  /// never makes and what can harm: a map of characters, a long piece, an unknown field; and without
  /// sentencepiece.
  PieceModel(std::string bytes, const std::string& name);

  /// The model in the format of sentencepiece.
  const std::string& bytes() const { return bytes_; }
  /// All symbols, each once: the pieces, and the bytes that are not a piece.
  std::vector<std::string> symbols() const;

  /// The symbols of a word, with the spaces before it; their concatenation is the word. It is UTF-8.
  std::vector<std::string> split(std::string_view word) const;

 private:
  std::string bytes_;
  std::shared_ptr<const sentencepiece::SentencePieceProcessor> processor_;
};

/// The number of bytes of the word that begins at `at`: up to the next space after it, but at most about 256,
/// which bounds the work for text without spaces. Needs at < text.size(), and UTF-8.
std::size_t word_length(std::string_view text, std::size_t at);

}  // namespace rondo
