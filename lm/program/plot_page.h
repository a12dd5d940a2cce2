// A page of diagrams: one HTML file that needs no other file and no script, light or dark as its reader
// prefers, and is well-formed XML. `lm plot` writes it (lm/program/plot.h), and a training while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lm/program/training_curves.h"
#include "tensor/clock.h"

namespace rondo {

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
