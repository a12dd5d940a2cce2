// `lm plot`: the course of trainings, sweeps and probes as a page of diagrams, and as pictures. Everything
// comes from the folders of the runs. The page: lm/report/page.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "data/files/files.h"
#include "lm/commands/options.h"
#include "lm/program/files.h"
#include "lm/program/terminal.h"
#include "lm/report/page.h"
#include "lm/report/sweep.h"

namespace rondo {

namespace {

namespace fs = std::filesystem;

struct PlotOptions {
  std::vector<std::string> runs;  // run folders, or folders of sweeps
  std::string out;                // the page; empty: plot.html, of one run or sweep in its folder
  std::string svg;                // a folder for pictures; empty: none
};

/// Adds the diagrams of the runs that lie in a folder; the sweep's name is that of the first one.
void add_sweep(std::vector<Figure>& figures, const std::string& name, const fs::path& folder,
               const Runs& runs) {
  Runs swept;
  std::ranges::copy_if(runs, std::back_inserter(swept), [&](const auto& run) {
    return fs::equivalent(fs::path(run->path).parent_path(), folder);
  });
  for (const auto& [suffix, it] : plots_of_sweep(swept))
    figures.push_back({name + suffix, svg_of(it),
                       std::string("Means over seeds, and standard deviations.") +
                           (suffix == "_time" ? "" : " Ring: the best on the validation text.")});
}

/// Writes the page and prints its name on stdout. Returns 0, or 2 if a run was left out, which a line on
/// stderr names.
int plot(const PlotOptions& options) {
  if (!options.svg.empty()) check_folder_to_write("--svg", options.svg);
  const auto [runs, status] = read_runs(options.runs);
  if (runs.empty()) return status;
  std::string name = options.out;
  if (name.empty()) name = (options.runs.size() == 1 ? fs::path(options.runs[0]) : fs::path()) / "plot.html";
  const fs::path out = file_to_write("--out", name);
  check_input(out.extension() != ".svg", "--out {}: a page of HTML is written; --svg FOLDER writes pictures",
              name);
  std::vector<Figure> figures;
  int sweeps = 0;
  for (const std::string& folder : options.runs)
    if (holds_runs(folder))
      add_sweep(figures, ++sweeps == 1 ? "sweep" : fmt::format("sweep_{}", sweeps), folder, runs);
  for (Figure& it : figures_of(runs)) figures.push_back(std::move(it));
  if (!options.svg.empty()) write_pictures("--svg", options.svg, figures);
  constexpr std::size_t most = 5;
  std::vector<std::string> names = names_of_runs(options.runs);
  const std::string title =
      names.size() > most ? fmt::format("{} runs", names.size()) : fmt::format("{}", fmt::join(names, ", "));
  write_atomically(out, html_of(runs, title, figures));
  print_line(name);
  warn_of_figures(runs);
  return status;
}

}  // namespace

Command add_plot(CommandLine& line) {
  const auto options = std::make_shared<PlotOptions>();
  CLI::App& app = add_command(line, "plot", "draw learning curves, sweeps and probes as a page",
                              "lm plot runs/* --out curves.html",
                              "The page needs no other file, no script and no network. Runs that differ in "
                              "their seed alone are one curve, which has the same colour in all "
                              "diagrams. Probes are those of train.probe_every.");
  add_run(app, "runs", options->runs, "run folders, or folders of sweeps");
  add_text(app, "--out", options->out, "FILE.html",
           "the page to write, in HTML (default: plot.html; of one run or sweep, in its folder)");
  add_text(app, "--svg", options->svg, "FOLDER", "a folder for the diagrams as pictures, a file in SVG each");
  return {&app, [options] { return plot(*options); }};
}

}  // namespace rondo
