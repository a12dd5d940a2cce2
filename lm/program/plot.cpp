// `lm plot`.
#include "lm/program/plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>

#include "data/files.h"
#include "data/input_file.h"
#include "lm/program/alignment.h"
#include "lm/program/json_lines.h"
#include "lm/program/output_file.h"
#include "lm/program/plot_page.h"
#include "lm/program/probe_pictures.h"
#include "lm/program/table.h"
#include "lm/program/table_rows.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_named = 4;        // runs in a title
constexpr std::size_t most_alignments = 24;  // on a page
constexpr std::int64_t reload_seconds = 30;

std::vector<PlottedRun> plotted(const MeasuredRuns& runs) {
  std::vector<PlottedRun> all;
  for (const MeasuredRun& run : runs) all.push_back(plotted_run(run));
  return all;
}

void add_section(std::vector<PageSection>& sections, const std::string& title,
                 std::vector<PageFigure> figures) {
  if (!figures.empty()) sections.push_back({title, std::move(figures)});
}

std::string loss_caption(const std::vector<PlottedRun>& runs, const Plot& plot) {
  std::vector<std::string> parts;
  if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !run.history.steps.empty(); }))
    parts.emplace_back("Thin: training text, pale as logged, else smoothed. Thick: validation text.");
  if (runs.size() == 1) parts.emplace_back("Ring: the best.");
  if (!plot.levels.empty()) parts.emplace_back("Dashed: published figures.");
  return fmt::format("{}", fmt::join(parts, " "));
}

void add_curves(std::vector<PageSection>& sections, const std::vector<PlottedRun>& runs,
                const CurveOptions& options) {
  std::vector<PageFigure> figures;
  for (const auto& [name, plot] : curves_of(runs, options))
    figures.push_back({name, svg_of(plot), name == "loss" ? loss_caption(runs, plot) : ""});
  add_section(sections, "Training", std::move(figures));
}

void add_probes(std::vector<PageSection>& sections, const std::vector<PlottedRun>& runs) {
  std::vector<ProbedRun> probed;
  for (const PlottedRun& run : runs)
    if (run.history.probed) probed.push_back(*run.history.probed);
  if (probed.empty()) return;
  std::vector<PageFigure> figures;
  for (const auto& [file, svg] : pictures_of(probed)) {
    const std::string name = file.substr(0, file.find('.'));
    if (name != "validation") figures.push_back({name, svg, "", name == "activations" || name == "gates"});
  }
  add_section(sections, "Probes during the training: the last one, and gradients by epoch",
              std::move(figures));
}

void add_attention(std::vector<PageSection>& sections, const std::string& file) {
  if (file.empty()) return;
  std::vector<PageFigure> figures;
  std::size_t count = 0;
  check_input(file_is_there(file), "--attention {}: no such file", file);
  read_json_lines(file, "`lm translate --attention` writes", [&](const nlohmann::json& entry) {
    const Alignment alignment = alignment_of(entry);
    if (!alignment.source.empty() && ++count <= most_alignments)
      figures.push_back({fmt::format("attention_{}", count), svg_of(std::vector<Alignment>{alignment}),
                         "Rows: what is written; columns: what is read; the darker, the larger the weight."});
    return true;
  });
  check_input(count > 0, "--attention {}: no line with attention", file);
  add_section(sections,
              count <= most_alignments ? "Attention"
                                       : fmt::format("Attention: the first {} of {}", most_alignments, count),
              std::move(figures));
}

/// `drawn`: how many diagrams of sweeps there are so far.
void add_sweep(std::vector<PageSection>& sections, const std::string& folder, std::size_t& drawn,
               const SweepPlotOptions& options) {
  const std::vector<Plot> plots = plots_of(report_of_sweep(folder), options);
  std::vector<PageFigure> figures;
  for (const Plot& it : plots) {
    ++drawn;
    figures.push_back({drawn == 1 ? "sweep" : fmt::format("sweep_{}", drawn), svg_of(it),
                       "Means over seeds, and standard deviations; ring: the best on the validation text."});
  }
  add_section(sections, "Sweep " + folder, std::move(figures));
}

/// A warning where losses are not of the same symbols.
std::vector<std::string> notes_on(const MeasuredRuns& runs) {
  const MeasuredRun& first = runs.front();
  const bool same = std::all_of(runs.begin(), runs.end(), [&](const MeasuredRun& run) {
    return run.vocabulary_size == first.vocabulary_size &&
           is_same_data(first.config.made_by.sha256, run.config.made_by.sha256);
  });
  if (same) return {};
  return {"These runs differ in text or vocabulary: their losses cannot be compared."};
}

std::string title_of(const std::vector<std::string>& names) {
  const std::size_t named = names.size() <= most_named ? names.size() : most_named - 1;
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > named ? fmt::format(" and {} more", names.size() - named) : "");
}

void write_files(const std::string& option, const std::string& folder,
                 const std::vector<std::pair<std::string, std::string>>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  check(!error, "{} {}: cannot make the folder: {}", option, folder, error.message());
  for (const auto& [name, content] : files)
    write_atomically(file_to_write(option, folder + "/" + name), content);
}

/// InputError if the page's name is that of a picture.
void check_is_name_of_page(const std::string& name) {
  std::string extension = fs::path(name).extension().string();
  for (char& letter : extension) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  constexpr std::string_view pictures[] = {".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".eps"};
  check_input(std::find(std::begin(pictures), std::end(pictures), extension) == std::end(pictures),
              "--out {}: a page of HTML is written, as to {}; --svg FOLDER writes pictures, in SVG", name,
              fs::path(name).replace_extension(".html").string());
}

}  // namespace

int plot(const PlotOptions& options) {
  check_is_name_of_page(options.out);
  if (!options.svg.empty()) check_folder_to_write("--svg", options.svg);
  if (!options.csv.empty()) check_folder_to_write("--csv", options.csv);
  std::vector<std::string> sweeps;
  std::copy_if(options.runs.begin(), options.runs.end(), std::back_inserter(sweeps), holds_runs);
  check_input(!sweeps.empty() || (options.drawn.over.empty() && !options.drawn.band),
              "plot: --over and --band are for the folder of a sweep");
  const std::string default_out =
      options.runs.size() == 1 ? (fs::path(options.runs[0]) / "plot.html").string() : "plot.html";
  const auto& [measured, status] = readable_runs(runs_among(options.runs));
  if (measured.empty()) return status;
  const std::string& name = options.out.empty() ? default_out : options.out;
  const fs::path out = file_to_write("--out", name);

  const std::vector<PlottedRun> runs = plotted(measured);
  Page page{.title = title_of(names_of_runs(options.runs)), .notes = notes_on(measured)};
  std::size_t drawn = 0;
  for (const std::string& sweep : sweeps) add_sweep(page.sections, sweep, drawn, options.drawn);
  add_curves(page.sections, runs, options.curves);
  add_probes(page.sections, runs);
  add_attention(page.sections, options.attention);
  page.table = table_of(measured);
  if (page.sections.empty()) page.notes.emplace_back("Nothing has been logged yet.");

  std::vector<std::pair<std::string, std::string>> pictures;
  for (const PageSection& section : page.sections)
    for (const PageFigure& figure : section.figures) pictures.emplace_back(figure.name + ".svg", figure.svg);
  if (!options.svg.empty()) write_files("--svg", options.svg, pictures);
  if (!options.csv.empty()) write_files("--csv", options.csv, csv_of(runs));
  write_atomically(out, html_of(page));
  fmt::print("{}\n", name);
  say_what_is_left_out(measured);
  say_what_misleads(measured);
  return status;
}

std::string training_page(const RunFolder& run, bool running) {
  const MeasuredRuns measured{measured_so_far(run.path.string())};
  const std::vector<PlottedRun> runs = plotted(measured);
  Page page{.title = title_of(names_of_runs({run.path.string()})), .table = table_of(measured)};
  add_curves(page.sections, runs, {});
  add_probes(page.sections, runs);
  if (page.sections.empty()) page.notes.emplace_back("Nothing has been logged yet.");
  if (running) {
    page.notes.push_back(
        fmt::format("The training is running: this page reloads itself every {} seconds.", reload_seconds));
    page.reload_seconds = reload_seconds;
  }
  return html_of(page);
}

}  // namespace rondo
