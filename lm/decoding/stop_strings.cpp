// Strings that end a generated text.
#include "lm/decoding/stop_strings.h"

#include <algorithm>
#include <utility>

namespace rondo {

std::string StopStrings::take(const std::string& text) {
  if (stopped_) return "";
  held_ += text;
  std::size_t found = std::string::npos, may_begin = held_.size();
  for (const std::string& stop : stops_) {
    found = std::min(found, held_.find(stop));
    // The longest end of the text that begins this string.
    for (std::size_t length = std::min(stop.size() - 1, held_.size()); length > 0; --length)
      if (held_.ends_with(stop.substr(0, length))) {
        may_begin = std::min(may_begin, held_.size() - length);
        break;
      }
  }
  if (found != std::string::npos) {
    stopped_ = true;
    return std::exchange(held_, "").substr(0, found);
  }
  const std::string sure = held_.substr(0, may_begin);
  held_.erase(0, may_begin);
  return sure;
}

std::string StopStrings::rest() { return std::exchange(held_, ""); }

}  // namespace rondo
