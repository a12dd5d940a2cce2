// Lines of an n-best list in the format of Moses (statmt.org/moses), which tools for rescoring and tuning
// read: `id ||| hypothesis ||| NAME= value ... [||| further fields]`. The third field has the features of the
// hypothesis, each a name that ends in "=" and its values. `lm translate --n-best` prints such lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rondo {

class NbestLine {
 public:
  /// InputError, beginning with `name`, for a line without these fields or with a feature `feature` already.
  NbestLine(std::string line, const std::string& name, std::string_view feature);

  /// Without the spaces around it; perhaps empty.
  std::string hypothesis() const { return hypothesis_; }
  /// The line with one more feature at the end of the third field. Everything else stays as it was, also a
  /// sum of the features in a fourth field, as their weights are not known here.
  std::string with(std::string_view feature, double value) const;

 private:
  std::string line_, hypothesis_;
  std::size_t features_end_;  // in the line
};

}  // namespace rondo
