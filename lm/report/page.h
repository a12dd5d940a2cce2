// Pictures of runs, as a page and as files: learning curves and what probes have seen. And pictures of
// attention.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lm/report/run_groups.h"
#include "lm/report/svg.h"
#include "lm/tasks/task.h"

namespace rondo {

// --- Attention ---

/// Writes what a model attended to, for --attention of `lm translate` and `lm answer`: a picture as in
/// Bahdanau, Cho & Bengio 2015, figure 3, if the file's name ends in .svg; else lines of JSON, {"source":
/// [...], "target": [...], "weights": [[...], ...]}. Errors of write_atomically().
void write_attention(const std::filesystem::path& file, std::vector<Alignment> alignments);

// --- Pictures ---

struct Figure {
  std::string name;  // of its file, without ".svg"
  std::string svg;   // a whole SVG document
  std::string caption{};
};
/// Writes each picture as a file into a folder, which is made if need be. InputErrors of file_to_write();
/// Error if the folder cannot be made.
void write_pictures(const std::string& option, const std::string& folder, const std::vector<Figure>& figures);

/// Names that tell runs apart: their folders' names or, if two are the same, the whole paths.
std::vector<std::string> names_of_runs(const std::vector<std::string>& paths);

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
std::vector<Figure> figures_of(const Runs& runs);

// --- Plot page ---

/// Returns a page of diagrams with the table of the runs: one HTML file that needs no other file and no
/// script, light or dark as its reader prefers, and is well-formed XML.
std::string html_of(const Runs& runs, const std::string& title, const std::vector<Figure>& figures);

}  // namespace rondo
