// `lm plot`.
#include "lm/program/plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "data/files.h"
#include "data/input_file.h"
#include "lm/program/attention_file.h"
#include "lm/program/json_lines.h"
#include "lm/program/output_file.h"
#include "lm/program/plot_page.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

/// The diagrams of a sweep; `drawn` is how many of sweeps there are so far.
Page::Section sweep_section(const std::string& folder, std::size_t& drawn, const SweepPlotOptions& options) {
  Page::Section section{"Sweep " + folder, {}};
  for (const Plot& it : plots_of(report_of_sweep(folder), options)) {
    ++drawn;
    section.figures.push_back(
        {drawn == 1 ? "sweep" : fmt::format("sweep_{}", drawn), svg_of(it),
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
      section.figures.push_back({fmt::format("attention_{}", count),
                                 svg_of(std::vector<HeatMap>{{it.source, it.target, it.weights}}),
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
  if (names.size() <= most_named) return fmt::format("{}", fmt::join(names, ", "));
  const std::size_t more = names.size() - (most_named - 1);
  names.resize(most_named - 1);
  return fmt::format("{} and {} more", fmt::join(names, ", "), more);
}

}  // namespace

int plot(const PlotOptions& options) {
  if (!options.svg.empty()) check_folder_to_write("--svg", options.svg);
  if (!options.csv.empty()) check_folder_to_write("--csv", options.csv);
  std::vector<std::string> sweeps;
  std::copy_if(options.runs.begin(), options.runs.end(), std::back_inserter(sweeps), holds_runs);
  check_input(!sweeps.empty() || (options.drawn.over.empty() && !options.drawn.band),
              "plot: --over and --band are for the folder of a sweep");
  const std::string default_out =
      options.runs.size() == 1 ? (fs::path(options.runs[0]) / "plot.html").string() : "plot.html";
  const auto& [runs, status] = read_runs(runs_among(options.runs));
  if (runs.empty()) return status;
  const std::string& name = options.out.empty() ? default_out : options.out;
  const fs::path out = file_to_write("--out", name);

  Page page = page_of(runs, title_of(options.runs), options.curves);
  std::vector<Page::Section> first;
  std::size_t drawn = 0;
  for (const std::string& sweep : sweeps)
    if (Page::Section it = sweep_section(sweep, drawn, options.drawn); !it.figures.empty())
      first.push_back(std::move(it));
  page.sections.insert(page.sections.begin(), first.begin(), first.end());
  if (!options.attention.empty()) page.sections.push_back(attention_section(options.attention));

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

}  // namespace rondo
