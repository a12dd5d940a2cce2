// Strings that end a generated text: what is written so far is passed on only as far as it cannot be the
// beginning of one of them.
#pragma once

#include <string>
#include <vector>

namespace rondo {

class StopStrings {
 public:
  /// None of them is empty.
  explicit StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// Takes the next part of the text; returns what can be printed. Once stopped, nothing more.
  std::string take(const std::string& text);
  /// Whether one has been found: what precedes it has been returned, it has not.
  bool stopped() const { return stopped_; }
  /// At the end of a text that was not stopped: what was held back.
  std::string rest();

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace rondo
