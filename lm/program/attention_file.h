// The file of --attention of `lm translate` and `lm answer`.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "lm/program/alignment.h"

namespace rondo {

/// A JSON object a line, or a picture if the name ends in .svg. It is opened for its first alignment, so that
/// nothing is lost by an input that is refused.
class AttentionFile {
 public:
  /// An empty name: no file. InputError if it could not be written, or is a file of a run.
  explicit AttentionFile(const std::string& name);

  explicit operator bool() const { return !name_.empty(); }

  /// Error if it cannot be opened.
  void add(Alignment alignment);
  /// After the last one. Error if not all was written.
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string name_;
  bool is_picture_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<Alignment> alignments_;  // of the picture
};

}  // namespace rondo
