// Pictures of runs, as a page and as files: learning curves and what probes have seen. And pictures of
// attention.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lm/report/run_groups.h"
#include "lm/report/svg.h"
#include "lm/tasks/task.h"
#include "tensor/profile.h"

namespace rondo {

// --- Attention ---
// What a model attended to, for --attention of `lm translate` and `lm answer`: lines of JSON, {"source":
// [...], "target": [...], "weights": [[...], ...]}, or a picture as in Bahdanau, Cho & Bengio 2015, figure 3.

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

// --- Pictures ---

struct Figure {
  std::string name;  // of its file, without ".svg"
  std::string svg;   // a whole SVG document
  std::string caption{};
};
/// Writes each picture as a file. InputErrors and Errors of write_files().
void write_pictures(const std::string& option, const std::string& folder, const std::vector<Figure>& figures);

enum class CurveAxis { epoch, step, time };
inline std::vector<std::string> names_of(CurveAxis) { return {"epoch", "step", "time"}; }

/// Names that tell runs apart: their folders' names or, if two are the same, the whole paths.
std::vector<std::string> names_of_runs(const std::vector<std::string>& paths);

/// Draws the course of trainings; nothing of what no run has logged. Every run has one colour in all
/// diagrams, and an entry in each legend. A loss is a perplexity of words, bits of characters, else nats.
///   loss, one for each score such as bleu or accuracy, learning_rate, gradient_norm, speed
std::vector<Figure> curves_of(const Runs& runs, CurveAxis axis);

/// A probe of a run's model on one of its texts, beside what the run's log has.
struct ProbedRun {
  std::shared_ptr<const RunRecord> run;
  std::string split;
  Probed probed;
};
/// Draws what probes have seen, as in Figure 1 of Wu et al. 2016; nothing of what there is no data for.
///   gradients            ln |dC/dh_t| by t
///   gradients_by_epoch   the same at the first steps, of the probes in the runs' logs
///   activations, gates
std::vector<Figure> pictures_of(const std::vector<ProbedRun>& runs);

/// Draws the course of trainings, and their last probes.
std::vector<Figure> figures_of(const Runs& runs, CurveAxis axis = CurveAxis::epoch);

// --- Plot page ---
// A page of diagrams: one HTML file that needs no other file and no script, light or dark as its reader
// prefers, and is well-formed XML. `lm plot` writes it, and a training while it runs.

/// A page with these notes, the table of the runs, and the figures. It reloads itself every so many seconds;
/// 0: it does not.
std::string html_of(const Runs& runs, const std::string& title, std::vector<std::string> notes,
                    const std::vector<Figure>& figures, std::int64_t reload_seconds = 0);

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
