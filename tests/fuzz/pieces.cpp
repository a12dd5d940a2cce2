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

}  // namespace

Target pieces() {
  std::vector<std::string> seeds;
  std::string content;
  for (int i = 0; i < 60; ++i)
    content += "the cat sat on a mat, then the " + std::string(1 + i % 7, 'o') + "\n";
  for (const PieceModelKind kind : {PieceModelKind::unigram, PieceModelKind::bpe})
    seeds.push_back(PieceModel::learnt_from({.name = "text", .content = content},
                                            {.unit = Unit::pieces, .pieces_model = kind, .pieces = 262})
                        .bytes());
  // A map of characters whose search structure leads outside of it; in the normalizer, and in its reverse.
  const std::string map = field(2, std::string("\x08\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7fx", 13));
  return {"pieces",
          run_pieces,
          seeds,
          {seeds[0] + field(3, map), seeds[1] + field(5, map), seeds[0] + field(4, field(1, field(1, "the"))),
           seeds[0] + field(1, field(1, std::string(1 << 20, 'x'))),
           seeds[1] + field(1, field(1, std::string("a\0b", 3)))}};
}

}  // namespace rondo::fuzz
