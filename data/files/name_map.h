// Names of tensors in a file of another program, and their names in Rondo's model. A map is a text with one
// rule per line:
//
//   OLD = NEW               the file's tensor OLD is NEW here
//   OLD = NEW transposed    NEW is its transpose
//   OLD =                   OLD is left out
//   = NEW                   NEW is zero: the file has no such tensor
//
// A `*` in OLD stands for any text, also for none; the first `*` in NEW stands for the text of the first
// one in OLD, and so on. The first rule that matches a name is used, and a name that no rule matches is
// kept. Blank lines, and lines that begin with #, are skipped. Used by lm/training/foreign_weights.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

class NameMap {
 public:
  struct Rule {
    std::string from, to;
    bool transposed = false;
    std::int64_t line = 0;
  };
  struct Renamed {
    std::string name;  // empty: left out
    bool transposed = false;
    const Rule* by = nullptr;  // null: none fits
  };

  /// Every name is kept.
  NameMap() = default;
  /// Throws InputError, naming `name` and the line, for what is not a rule.
  static NameMap from_text(std::string_view text, const std::string& name);

  /// Renames a tensor; the rule `by` is valid as long as the map.
  Renamed operator()(const std::string& from) const;
  /// Returns the names of the tensors that are zero.
  const std::vector<std::string>& zeros() const { return zeros_; }
  /// All rules except `= NEW`.
  const std::vector<Rule>& rules() const { return rules_; }
  /// Returns the name of the text, for errors.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::vector<Rule> rules_;
  std::vector<std::string> zeros_;
};

/// Returns the text that each `*` of `pattern` stands for, as short as possible; nothing if `text` does not
/// fit.
std::optional<std::vector<std::string>> fit(std::string_view pattern, std::string_view text);

}  // namespace rondo
