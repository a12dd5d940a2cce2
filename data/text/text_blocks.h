// A text as blocks of a few megabytes, so that a long text need not be in memory as a whole, and several
// threads can work on it. Next: data/text/long_text.h.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <utility>

#include "data/text/symbols.h"

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

/// Work on the parts of a long text, several at a time, in separate threads; the results come in order.
template <class Result>
class InOrder {
 public:
  /// At most `threads` computations at once. `use` gets their results, in the order of add(), on the caller's
  /// thread.
  InOrder(int threads, std::function<void(Result)> use) : threads_(threads), use_(std::move(use)) {}

  /// Starts a computation, after the first of those that run has ended if they are `threads`. Throws what a
  /// computation or `use` has thrown.
  void add(std::function<Result()> compute) {
    if (running_.size() == static_cast<std::size_t>(threads_)) use_next();
    running_.push_back(
        std::async(threads_ > 1 ? std::launch::async : std::launch::deferred, std::move(compute)));
  }
  /// Waits for all of them.
  void finish() {
    while (!running_.empty()) use_next();
  }

 private:
  void use_next() {
    std::future<Result> first = std::move(running_.front());
    running_.pop_front();
    use_(first.get());
  }

  int threads_;
  std::function<void(Result)> use_;
  std::deque<std::future<Result>> running_;
};

}  // namespace rondo
