// The file of --attention of `lm translate` and `lm answer`.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "lm/program/alignment.h"

namespace rondo {

/// A JSON object a line, or a picture if the name ends in .svg. It is opened for its first alignment or at
/// the end, so that nothing is lost by an input that is refused.
class AttentionFile {
 public:
  /// An empty name: no file. InputErrors of file_to_write(); pipes are accepted.
  explicit AttentionFile(const std::string& name);

  explicit operator bool() const { return !name_.empty(); }

  /// Error if it cannot be opened.
  void add(Alignment alignment);
  /// After the last one; without any the file becomes an empty one. Error if not all was written.
  void finish();
  /// After a failure: what was added is kept, and without any the old file. Error if not all was written.
  void keep();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void open();

  std::string name_;
  bool is_picture_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<Alignment> alignments_;  // of the picture
};

}  // namespace rondo
