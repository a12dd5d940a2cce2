// A page of diagrams.
#include "lm/program/plot_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "data/files.h"
#include "lm/program/paths.h"
#include "lm/program/probe_pictures.h"
#include "lm/program/run_table.h"

namespace rondo {
namespace {

/// Diagrams take the page's colour of text.
constexpr const char* style = R"(
:root { color-scheme: light dark; --page: #ffffff; --ink: #2f2f2f; --soft: #6a6a6a; --rule: #dcdcdc; }
@media (prefers-color-scheme: dark) {
  :root { --page: #16181b; --ink: #d6d6d6; --soft: #9a9a9a; --rule: #3a3d41; }
}
body { margin: 0 auto; max-width: 84rem; padding: 1.5rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 sans-serif; }
h1 { font-size: 1.35rem; margin: 0 0 0.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; border-bottom: 1px solid var(--rule); }
p { margin: 0.25rem 0; color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); gap: 1.5rem; }
figure { margin: 0; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
figure > svg { display: block; max-width: 100%; height: auto; fill: var(--ink); }
figcaption { color: var(--soft); font-size: 0.85rem; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.7rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--rule); }
th { font-weight: 600; white-space: normal; vertical-align: bottom; border: 0; }
.text { text-align: left; }
@media print { figure { break-inside: avoid; } }
)";

std::string loss_caption(const Runs& runs, const Plot& plot) {
  std::string caption;
  if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !run->steps.empty(); }))
    caption += "Thin: training text, pale as logged, else smoothed. Thick: validation text. ";
  if (runs.size() == 1) caption += "Ring: the best. ";
  if (!plot.levels.empty()) caption += "Dashed: published figures.";
  return caption;
}

}  // namespace

Page page_of(const Runs& runs, const std::string& title, const CurveOptions& options) {
  Page page{.title = title, .table = table_of(runs)};
  const RunRecord& first = *runs.front();
  const bool are_comparable = std::all_of(runs.begin(), runs.end(), [&](const auto& run) {
    return run->vocabulary_size == first.vocabulary_size &&
           is_same_data(first.config.made_by.sha256, run->config.made_by.sha256);
  });
  if (!are_comparable)
    page.notes.emplace_back("These runs differ in text or vocabulary: their losses cannot be compared.");
  std::vector<PageFigure> curves, probes;
  for (const auto& [name, plot] : curves_of(runs, options))
    curves.push_back({name, svg_of(plot), name == "loss" ? loss_caption(runs, plot) : ""});
  if (!curves.empty()) page.sections.push_back({"Training", std::move(curves)});
  std::vector<ProbedRun> probed;
  for (const auto& run : runs)
    if (!run->probes.empty()) probed.push_back({run, "train", run->probes.back().probed});
  if (probed.empty()) return page;
  for (const auto& [file, svg] : pictures_of(probed))
    if (const std::string name = file.substr(0, file.find('.'));
        name != "validation")  // which the curves show
      probes.push_back({name, svg, "", name == "activations" || name == "gates"});
  page.sections.push_back(
      {"Probes during the training: the last one, and gradients by epoch", std::move(probes)});
  return page;
}

std::string html_of(const Page& page) {
  const std::string title = svg_escaped(page.title);
  std::string html =
      "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'/>\n"
      "<meta name='viewport' content='width=device-width, initial-scale=1'/>\n";
  if (page.reload_seconds > 0)
    html += fmt::format("<meta http-equiv='refresh' content='{}'/>\n", page.reload_seconds);
  html +=
      fmt::format("<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n", title, style);
  for (const std::string& note : page.notes) html += fmt::format("<p>{}</p>\n", svg_escaped(note));
  if (page.sections.empty()) html += "<p>Nothing has been logged yet.</p>\n";
  html += "<div class='table'>\n" + html_of(page.table) + "</div>\n";
  for (const Page::Section& section : page.sections) {
    html += fmt::format("<h2>{}</h2>\n<div class='figures'>\n", svg_escaped(section.title));
    for (const PageFigure& figure : section.figures)
      html += fmt::format("<figure id='{}'{}>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                          svg_escaped(figure.name), figure.wide ? " class='wide'" : "", figure.svg,
                          svg_escaped(figure.caption));
    html += "</div>\n";
  }
  return html + "</body>\n</html>\n";
}

void TrainingPage::update() {
  constexpr double share = 0.01;
  if (cost_ > share * seconds_since(written_)) return;
  const auto begin = Clock::now();
  write(true);
  cost_ = seconds_since(begin);
  written_ = Clock::now();
}

void TrainingPage::write(bool is_running) {
  constexpr std::int64_t reload_seconds = 30;
  try {
    const std::string path = run_.path.string();
    Page page = page_of({std::make_shared<const RunRecord>(read_run(path, is_running))}, last_name(path), {});
    if (is_running) {
      page.notes.push_back(
          fmt::format("The training is running: this page reloads itself every {} seconds.", reload_seconds));
      page.reload_seconds = reload_seconds;
    }
    write_atomically(run_.page(), html_of(page));
  } catch (const std::exception& error) {
    if (!has_warned_) fmt::print(stderr, "lm: warning: the page of the training: {}\n", error.what());
    has_warned_ = true;
  }
}

}  // namespace rondo
