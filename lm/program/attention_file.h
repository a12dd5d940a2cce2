// What a model attended to, for --attention of `lm translate` and `lm answer`: as JSON, or as a picture as in
// Bahdanau, Cho & Bengio 2015, figure 3.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lm/program/svg.h"
#include "lm/tasks/task.h"

namespace rondo {

/// {"source": [...], "target": [...], "weights": [[...], ...]}.
nlohmann::ordered_json json_of(const Alignment& alignment);
/// The other way round. InputErrors for a list of weights that does not fit the symbols, and exceptions of
/// nlohmann::json for what is not such an object.
Alignment alignment_of(const nlohmann::json& json);

/// A file with a JSON object a line, or a picture if its name ends in .svg. It is opened for its first
/// alignment or at the end, so that nothing is lost by an input that is refused.
class AttentionFile {
 public:
  /// An empty name: no file. InputErrors of file_to_write(); pipes are accepted.
  explicit AttentionFile(const std::string& name);

  explicit operator bool() const { return !name_.empty(); }

  /// Error if it cannot be opened.
  void add(const Alignment& alignment);
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
  std::vector<HeatMap> maps_;  // of the picture
};

}  // namespace rondo
