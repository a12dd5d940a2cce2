// `lm plot`: the course of trainings, sweeps, probes and attention as a page of diagrams, as pictures and as
// CSV. Everything comes from the folders of the runs. The page: lm/report/page.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "data/files/files.h"
#include "lm/commands/options.h"
#include "lm/program/files.h"
#include "lm/report/page.h"
#include "lm/report/sweep.h"

namespace rondo {

namespace {

struct PlotOptions {
  std::vector<std::string> runs;  // run folders, or folders of sweeps
  std::string out;                // the page; empty: plot.html, of one run or sweep in its folder
  std::string svg, csv;           // folders; empty: none
  std::string attention;          // a file of --attention of `lm translate`; empty: none
  CurveOptions curves{};
  SweepPlotOptions drawn{};
};

/// The diagrams of the runs that lie in a folder; there are `before` of other folders.
Page::Section sweep_section(const std::string& folder, const Runs& runs, const SweepPlotOptions& options,
                            std::size_t before) {
  Page::Section section{"Sweep " + folder, {}};
  Runs swept;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(swept), [&](const auto& run) {
    return std::filesystem::equivalent(std::filesystem::path(run->path).parent_path(), folder);
  });
  for (const Plot& it : plots_of_sweep(swept, options)) {
    const std::size_t number = before + section.figures.size() + 1;
    section.figures.push_back(
        {number == 1 ? "sweep" : fmt::format("sweep_{}", number), svg_of(it),
         "Means over seeds, and standard deviations; ring: the best on the validation text."});
  }
  return section;
}

Page::Section attention_section(const std::string& file) {
  constexpr std::size_t most = 24;  // pictures
  Page::Section section{"Attention", {}};
  std::size_t count = 0;
  check_input(file_is_there(file), "--attention {}: no such file", file);
  read_json_lines(file, "`lm translate --attention` writes", [&](const nlohmann::json& entry) {
    const Alignment it = alignment_of(entry);
    if (!it.source.empty() && ++count <= most)
      section.figures.push_back({fmt::format("attention_{}", count), svg_of(std::vector{it}),
                                 "Rows: what is written; columns: what is read; the stronger the colour, the "
                                 "larger the weight."});
    return true;
  });
  check_input(count > 0, "--attention {}: no line with attention", file);
  if (count > most) section.title += fmt::format(": the first {} of {}", most, count);
  return section;
}

std::string title_of(const std::vector<std::string>& paths) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> names = names_of_runs(paths);
  const std::size_t more = names.size() - std::min(names.size(), most_named);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Writes the page and prints its name on stdout. Returns 0, or 2 if a run was left out, which a line on
/// stderr names.
int plot(const PlotOptions& options) {
  if (!options.svg.empty()) check_folder_to_write("--svg", options.svg);
  if (!options.csv.empty()) check_folder_to_write("--csv", options.csv);
  const auto [runs, status] = read_runs(options.runs);
  if (runs.empty()) return status;
  const std::string default_out = options.runs.size() == 1
                                      ? (std::filesystem::path(options.runs[0]) / "plot.html").string()
                                      : "plot.html";
  const std::string& name = options.out.empty() ? default_out : options.out;
  const std::filesystem::path out = file_to_write("--out", name);
  check_input(out.extension() != ".svg", "--out {}: a page of HTML is written; --svg FOLDER writes pictures",
              name);

  Page page = page_of(runs, title_of(options.runs), options.curves);
  std::vector<Page::Section> sweeps;
  std::size_t drawn = 0;
  for (const std::string& folder : options.runs)
    if (holds_runs(folder)) {
      sweeps.push_back(sweep_section(folder, runs, options.drawn, drawn));
      drawn += sweeps.back().figures.size();
    }
  check_input(!sweeps.empty() || (options.drawn.over.empty() && !options.drawn.band),
              "plot: --over and --band are for the folder of a sweep");
  page.sections.insert(page.sections.begin(), sweeps.begin(), sweeps.end());
  if (!options.attention.empty()) page.sections.push_back(attention_section(options.attention));
  std::erase_if(page.sections, [](const Page::Section& it) { return it.figures.empty(); });

  if (!options.svg.empty()) {
    std::vector<std::pair<std::string, std::string>> pictures;
    for (const Page::Section& section : page.sections)
      for (const PageFigure& figure : section.figures)
        pictures.emplace_back(figure.name + ".svg", figure.svg);
    write_files("--svg", options.svg, pictures);
  }
  if (!options.csv.empty()) write_files("--csv", options.csv, csv_of(runs));
  write_atomically(out, html_of(page));
  fmt::print("{}\n", name);
  warn_omitted_published(runs);
  warn_misleading(runs);
  return status;
}

}  // namespace

Command add_plot(CommandLine& line) {
  const auto options = std::make_shared<PlotOptions>();
  CLI::App& app = add_command(
      line, "plot", "draw learning curves, sweeps, probes and attention as a page",
      "lm plot runs/* --out curves.html",
      "The page needs no other file, no script and no network. The colour of a run is the same in all its "
      "diagrams. A published figure is drawn where lm table shows it. Probes are those of train.probe_every. "
      "lm train writes such a page, plot.html in its run folder, after each epoch and with each saved "
      "state.");
  add_run(app, "runs", options->runs, "run folders, or folders of sweeps");
  add_text(app, "--out", options->out, "FILE.html",
           "the page to write, in HTML (default: plot.html; of one run or sweep, in its folder)");
  add_choice<CurveAxis>(app, "--x", options->curves.x, "the x axis of curves: step, epoch or time")
      ->default_str(name_of(options->curves.x));
  add_choice<PublishedUnit>(app, "--unit", options->curves.unit,
                            "of losses: perplexity, bits or nats (default: perplexity of words, bits of "
                            "characters, else nats)");
  add_text(app, "--attention", options->attention, "FILE.jsonl",
           "draw what lm translate or lm answer --attention wrote");
  add_text(app, "--svg", options->svg, "FOLDER", "a folder for the diagrams as pictures, a file in SVG each");
  add_text(app, "--csv", options->csv, "FOLDER",
           "a folder for the curves as numbers: training.csv, validation.csv");
  add_sweep_plot(app, options->drawn);
  return {&app, [options] { return plot(*options); }};
}

}  // namespace rondo
