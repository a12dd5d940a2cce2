// A page of diagrams: one HTML file that needs no other file and no script, light or dark as its reader
// prefers, and is well-formed XML. What is on it: lm/program/plot.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lm/program/text_table.h"

namespace rondo {

struct PageFigure {
  std::string name;  // of its file, without ".svg"
  std::string svg;   // a whole SVG document
  std::string caption{};
  bool wide = false;  // as wide as the page
};

struct PageSection {
  std::string title;
  std::vector<PageFigure> figures;
};

struct Page {
  std::string title;
  std::vector<std::string> notes{};  // below the title
  TextTable table{};                 // may have no column
  std::vector<PageSection> sections{};
  std::int64_t reload_seconds = 0;  // 0: the page stays as it is
};

std::string html_of(const Page& page);

}  // namespace rondo
