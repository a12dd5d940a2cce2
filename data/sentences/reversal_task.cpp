// The reversal task; see data/sentences/reversal_task.h.
#include "data/sentences/reversal_task.h"

#include <random>
#include <string>

#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {

TextPair reversal_task(std::uint64_t seed, std::int64_t count, const ReversalOptions& options) {
  check_input(count >= 1 && options.letters >= 1 && options.letters <= 26 && options.min_length >= 0 &&
                  options.min_length <= options.max_length,
              "{} pairs of {} to {} of {} letters: expected 1 or more, of 1 to 26 letters", count,
              options.min_length, options.max_length, options.letters);
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t bound) {  // not a standard distribution: these differ between libraries
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  std::string source, target;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t length = options.min_length + below(options.max_length - options.min_length + 1);
    std::string line;
    for (std::int64_t letter = 0; letter < length; ++letter) {
      if (letter > 0) line += ' ';
      line += static_cast<char>('a' + below(options.letters));
    }
    source += line + '\n';
    target += std::string(line.rbegin(), line.rend()) + '\n';
  }
  const auto text_of = [](const char* name, std::string content) {
    return Text{.name = name, .content = content, .sha256 = sha256_hex(content), .notes = {}};
  };
  return {text_of("letters", source), text_of("letters in reverse", target)};
}

}  // namespace rondo
