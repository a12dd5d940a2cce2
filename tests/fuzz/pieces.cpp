// Models of sentencepiece: the vocab.pieces of a run.
#include "data/text/pieces.h"

#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

void run_pieces(std::string_view bytes) {
  const PieceModel model(std::string(bytes), "vocab.pieces");
  for (const std::string word :
       {" the", " cat\xc3\xa9", "\xe2\x96\x81 \xe2\x96\x85", " \t\x01 \xef\xac\x81"}) {
    std::string joined;
    for (const std::string& symbol : model.split(word)) joined += symbol;
    demand(joined == word, "pieces that are not the word");
  }
  for (const std::string& symbol : model.symbols()) demand(!symbol.empty(), "an empty symbol");
}

/// A field of protobuf, whose bytes follow their size.
std::string field(char number, const std::string& bytes) {
  std::string size;
  for (std::size_t rest = bytes.size(); size.empty() || rest > 0; rest >>= 7)
    size += static_cast<char>(rest >> 7 > 0 ? rest | 0x80 : rest & 0x7f);
  return static_cast<char>(number << 3 | 2) + size + bytes;
}

std::string piece(const std::string& text) {
  return field(1, field(1, text) + std::string("\x15\0\0\x80\xbf", 5));  // with a score of -1
}

/// As `lm` writes it. Kind 1: unigram; 2: BPE.
std::string model_of(char kind) {
  std::string model = field(1, field(1, "\xe2\x96\x85") + "\x18\2");
  for (const std::string text :
       {"\xe2\x96\x81", "t", "h", "e", "th", "the", "\xe2\x96\x81the", "c", "a", "ca"})
    model += piece(text);
  return model + field(2, std::string("\x18") + kind) +
         field(3, field(1, "identity") + field(2, "") + std::string("\x18\0\x20\0", 4));
}

}  // namespace

Target pieces() {
  // A map of characters whose search structure leads outside of it; in the normalizer, and in its reverse.
  const std::string map = field(2, std::string("\x08\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7fx", 13));
  const std::string unigram = model_of('\1'), bpe = model_of('\2');
  return {"pieces",
          run_pieces,
          {unigram, bpe},
          {unigram + field(3, map), bpe + field(5, map), unigram + field(4, field(1, field(1, "the"))),
           unigram + piece(std::string(1 << 20, 'x')), bpe + piece(std::string("a\0b", 3))}};
}

}  // namespace rondo::fuzz
