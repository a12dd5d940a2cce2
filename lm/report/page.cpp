// A page of diagrams.
#include "lm/report/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "lm/program/files.h"
#include "lm/report/curves.h"
#include "lm/report/run_table.h"
#include "tensor/error.h"

namespace rondo {

// --- Attention ---

nlohmann::ordered_json json_of(const Alignment& it) {
  return {{"source", it.source}, {"target", it.target}, {"weights", it.weights}};
}

Alignment alignment_of(const nlohmann::json& json) {
  Alignment it{json.at("source"), json.at("target"), json.at("weights")};
  check_input(it.weights.size() == it.target.size(), "weights must have a list for each target symbol");
  for (const std::vector<float>& row : it.weights)
    check_input(row.size() == it.source.size(), "each list of weights must have one for each source symbol");
  return it;
}

AttentionFile::AttentionFile(const std::string& name)
    : name_(file_to_write("--attention", name, Pipes::accepted)), is_picture_(name.ends_with(".svg")) {}

void AttentionFile::open() {
  file_.reset(std::fopen(name_.c_str(), "w"));
  check(file_ != nullptr, "--attention {}: cannot be written", name_);
}

void AttentionFile::add(const Alignment& alignment) {
  if (!file_) open();
  if (!is_picture_)
    fmt::print(file_.get(), "{}\n", json_of(alignment).dump());
  else if (!alignment.source.empty())
    drawn_.push_back(alignment);
}

void AttentionFile::fill(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    try {
      write();
    } catch (const Error& error) {  // the first error is the one to tell
      fmt::print(stderr, "lm: warning: {}\n", error.what());
    }
    throw;
  }
  if (*this && !file_) open();
  write();
}

void AttentionFile::write() {
  if (!file_) return;
  if (is_picture_) fmt::print(file_.get(), "{}", svg_of(drawn_));
  check(std::fflush(file_.get()) == 0 && !std::ferror(file_.get()),
        "--attention {}: not written: the disk is full?", name_);
}

// --- Plot page ---

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
    probes.push_back(
        {file.substr(0, file.find('.')), svg, "", file == "activations.svg" || file == "gates.svg"});
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
