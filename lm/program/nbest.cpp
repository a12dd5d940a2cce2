// Lines of an n-best list.
#include "lm/program/nbest.h"

#include <fmt/format.h>

#include <vector>

#include "data/text.h"
#include "tensor/error.h"

namespace rondo {
namespace {

constexpr std::string_view separator = "|||";

/// The fields between separators that stand alone: "a|||b" is a word.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  std::size_t begin = 0;
  for (std::size_t at = line.find(separator); at != std::string_view::npos;
       at = line.find(separator, at + 1)) {
    const std::size_t after = at + separator.size();
    const bool alone = (at == 0 || is_space(line[at - 1])) && (after == line.size() || is_space(line[after]));
    if (!alone) continue;
    fields.push_back(line.substr(begin, at - begin));
    begin = after;
  }
  fields.push_back(line.substr(begin));
  return fields;
}

bool has_feature(std::string_view features, const std::string& label) {
  for (std::size_t at = features.find(label); at != std::string_view::npos;
       at = features.find(label, at + 1)) {
    const std::size_t after = at + label.size();
    const bool is_word =
        (at == 0 || is_space(features[at - 1])) && (after == features.size() || is_space(features[after]));
    if (is_word) return true;
  }
  return false;
}

}  // namespace

NbestLine::NbestLine(std::string line, const std::string& name, std::string_view feature)
    : line_(std::move(line)) {
  const std::vector<std::string_view> fields = fields_of(line_);
  check_input(fields.size() >= 3,
              "{}: not a line of an n-best list, `id ||| hypothesis ||| scores`: it has {} of these fields",
              name, fields.size());
  check_input(!stripped(fields[0]).empty(), "{}: no id before the first |||", name);
  check_input(!has_feature(fields[2], fmt::format("{}=", feature)),
              "{}: it has a feature {}= already: choose another name with --feature", name, feature);
  hypothesis_ = stripped(fields[1]);
  std::string_view features = fields[2];
  while (!features.empty() && is_space(features.back())) features.remove_suffix(1);
  features_end_ = static_cast<std::size_t>(features.data() + features.size() - line_.data());
}

std::string NbestLine::with(std::string_view feature, double value) const {
  const std::string_view line = line_;
  return fmt::format("{} {}= {:.6f}{}", line.substr(0, features_end_), feature, value,
                     line.substr(features_end_));
}

}  // namespace rondo
