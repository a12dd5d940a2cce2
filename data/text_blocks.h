// A text as blocks of a few megabytes, so that a long text need not be in memory as a whole, and several
// threads can work on it. Next: data/long_text.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "data/symbols.h"

namespace rondo {

/// A part of a text, cut so that its symbols are those which the whole text has there.
struct Block {
  std::string text;
  LastLine last;                  // goes_on: the next block continues its last line
  std::int64_t lines_before = 0;  // line ends of the text before it
};
using UseBlock = std::function<void(Block)>;

class BlockCutter {
 public:
  /// `use` gets the blocks.
  BlockCutter(const Tokenization& tokenization, UseBlock use, std::size_t block_bytes = 4 << 20)
      : tokenization_(tokenization), use_(std::move(use)), block_bytes_(block_bytes) {}

  void add(std::string_view part);
  /// After the last part.
  void end();

 private:
  std::size_t place_to_cut() const;

  Tokenization tokenization_;
  UseBlock use_;
  std::size_t block_bytes_;
  std::string text_;
  std::size_t searched_ = 0;  // of text_: there is no place to cut
  std::int64_t lines_ = 0;
};

/// Passes a text in blocks, whether it is held in memory or not. `what` is done with it, for the progress.
void read_blocks(const Text& text, const Tokenization& tokenization, const std::string& what,
                 const UseBlock& use);

}  // namespace rondo
