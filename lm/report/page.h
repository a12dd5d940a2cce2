// A page of pictures of runs, of `lm plot` and of a training; and pictures of attention.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lm/report/curves.h"
#include "lm/report/svg.h"
#include "lm/tasks/task.h"
#include "tensor/profile.h"

namespace rondo {

// --- Attention ---
// What a model attended to, for --attention of `lm translate` and `lm answer`: as JSON, or as a picture as
// in Bahdanau, Cho & Bengio 2015, figure 3.

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
  std::vector<Alignment> drawn_;  // of the picture
};

// --- Plot page ---
// A page of diagrams: one HTML file that needs no other file and no script, light or dark as its reader
// prefers, and is well-formed XML. `lm plot` writes it, and a training while it runs.

struct PageFigure {
  std::string name;  // of its file, without ".svg"
  std::string svg;   // a whole SVG document
  std::string caption{};
  bool wide = false;  // as wide as the page
};

struct Page {
  struct Section {
    std::string title;
    std::vector<PageFigure> figures;
  };

  std::string title;
  std::vector<std::string> notes{};  // below the title
  TextTable table{};
  std::vector<Section> sections{};
  std::int64_t reload_seconds = 0;  // 0: the page stays as it is
};
std::string html_of(const Page& page);

/// A page with the table of these runs, the course of their trainings, and their last probes.
Page page_of(const Runs& runs, const std::string& title, const CurveOptions& options);

/// The page of a training, plot.html in its run folder. Open in a browser, it is a monitor: it reloads itself
/// until the training ends. If it cannot be written, the training goes on, and one warning on stderr says so.
class TrainingPage {
 public:
  explicit TrainingPage(const RunFolder& run) : run_(run) {}
  /// The training has ended, however it did: the page no longer reloads itself.
  ~TrainingPage() { write(false); }
  TrainingPage(const TrainingPage&) = delete;
  TrainingPage& operator=(const TrainingPage&) = delete;

  /// The page of what is in the log now; the one before stays if pages would take more than a hundredth of
  /// the training's time.
  void update();

 private:
  void write(bool is_running);

  RunFolder run_;
  bool has_warned_ = false;
  Clock::time_point written_{};  // the end of the last write
  double cost_ = 0;              // its seconds
};

}  // namespace rondo
