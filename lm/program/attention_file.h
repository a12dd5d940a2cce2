// The file of --attention of `lm translate` and `lm answer`.
#pragma once

#include <cstdio>
#include <functional>
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
  /// Calls `work`, which adds the alignments, and completes the file; without any it becomes an empty one. If
  /// `work` throws, what was added is kept, without any the old file, and the same is thrown. Error if not
  /// all was written.
  void fill(const std::function<void()>& work);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void open();
  void write();

  std::string name_;
  bool is_picture_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<Alignment> alignments_;  // of the picture
};

}  // namespace rondo
