// A page of diagrams.
#include "lm/program/plot_page.h"

#include <fmt/format.h>

#include "lm/program/svg_plot.h"

namespace rondo {
namespace {

/// Diagrams take the page's colour of text; pictures with a background of their own keep theirs.
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
th, td { padding: 0.25rem 0.7rem; text-align: right; white-space: nowrap; }
th { font-weight: 600; white-space: normal; vertical-align: bottom; border-bottom: 1px solid var(--soft); }
tr + tr td { border-top: 1px solid var(--rule); }
.text { text-align: left; }
@media print { figure { break-inside: avoid; } }
)";

}  // namespace

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
  if (!page.table.empty()) html += "<div class='table'>\n" + html_of(page.table) + "</div>\n";
  for (const PageSection& section : page.sections) {
    html += fmt::format("<h2>{}</h2>\n<div class='figures'>\n", svg_escaped(section.title));
    for (const PageFigure& figure : section.figures)
      html += fmt::format("<figure id='{}'{}>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                          svg_escaped(figure.name), figure.wide ? " class='wide'" : "", figure.svg,
                          svg_escaped(figure.caption));
    html += "</div>\n";
  }
  return html + "</body>\n</html>\n";
}

}  // namespace rondo
