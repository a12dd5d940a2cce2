// The pages of the documentation, README.md, docs/*.md and docs/tour/*.md: each block of C++ or C stands,
// character for character, in a file of tests/examples/ or tests/installed/, where it is compiled and tested;
// in the tour, which explains Rondo's own source, in a file that the page links to. Links lead to files. Of
// shell commands only those of docs/study.md are run; docs/tables.py checks the generated tables.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "data/text/text.h"
#include "tests/lm/program/program.h"

namespace {

namespace fs = std::filesystem;

const fs::path source_folder = RONDO_SOURCE_DIR;

/// The contents of the blocks of a page in a language.
std::vector<std::string> code_blocks(const std::string& page, const std::string& language = "cpp") {
  const std::string open = "\n```" + language + "\n", close = "\n```\n";
  std::vector<std::string> blocks;
  for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    const std::size_t end = page.find(close, at);
    if (end == std::string::npos) throw std::runtime_error("a block of code does not end");
    blocks.push_back(page.substr(at, end + 1 - at));
    at = end;
  }
  return blocks;
}

/// The files that a page links to, relative to it: [text](file#anchor), outside of code; not links to the web
/// or within the page.
std::vector<std::string> linked_files(const std::string& page) {
  const std::regex link(R"(\]\(([^)#\s]+)[^)]*\))");
  std::vector<std::string> files;
  std::istringstream lines(page);
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    if (code) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), link), end; it != end; ++it)
      if ((*it)[1].str().find("://") == std::string::npos) files.push_back((*it)[1]);
  }
  return files;
}

const fs::path tour = source_folder / "docs" / "tour";

std::vector<fs::path> pages() {
  std::vector<fs::path> found;
  for (const fs::path& folder : {source_folder, source_folder / "docs", tour})
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

TEST(Pages, ShowOnlyCodeThatIsTested) {
  std::vector<std::string> sources;
  for (const char* folder : {"tests/examples", "tests/installed", "tests/installed/inference"})
    for (const auto& entry : fs::directory_iterator(source_folder / folder))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".c")
        sources.push_back(rondo::read_file(entry.path()));
  std::size_t blocks = 0;
  for (const fs::path& page : pages()) {
    if (page.parent_path() == tour) continue;
    std::vector<std::string> of_page = code_blocks(rondo::read_file(page));
    for (const std::string& block : code_blocks(rondo::read_file(page), "c")) of_page.push_back(block);
    for (const std::string& block : of_page) {
      ++blocks;
      bool found = false;
      for (const std::string& source : sources) found |= source.find(block) != std::string::npos;
      EXPECT_TRUE(found) << "no file of tests/examples or tests/installed has this block of " << page << ":\n"
                         << block;
    }
  }
  EXPECT_GE(blocks, 11u) << "blocks of C++ have disappeared from the pages";
}

TEST(Pages, OfTheTourShowTheSourceAsItIs) {
  std::size_t blocks = 0;
  for (const auto& entry : fs::directory_iterator(tour)) {
    const std::string page = rondo::read_file(entry.path());
    std::string sources;
    for (const std::string& file : linked_files(page))
      if (fs::is_regular_file(tour / file)) sources += rondo::read_file(tour / file);
    for (const std::string& block : code_blocks(page)) {
      ++blocks;
      EXPECT_NE(sources.find(block), std::string::npos)
          << "no file that " << entry.path() << " links to has this block any more:\n"
          << block;
    }
  }
  EXPECT_GE(blocks, 40u) << "blocks of C++ have disappeared from the tour";
}

TEST(Pages, LinkToFilesThatAreThere) {
  std::size_t links = 0;
  for (const fs::path& page : pages())
    for (const std::string& file : linked_files(rondo::read_file(page))) {
      ++links;
      EXPECT_TRUE(fs::exists(page.parent_path() / file)) << page << " links to " << file;
    }
  EXPECT_GE(links, 20u);
}

// On a small text, with small models and few steps.
TEST(Pages, TheStudyRuns) {
  const rondo::SmallData data;
  fs::create_directory(data / "text");
  for (const char* split : {"train.txt", "valid.txt", "test.txt"})
    fs::copy(data / "data" / split, data / "text" / split);
  rondo::write_bytes(data / "stimuli.tsv",
                     "item\tcondition\tsentence\n1\tmatch\tthe cat sat\n1\tmismatch\tthe cat zat\n");
  std::string script = "set -e\n";
  for (const std::string& block : code_blocks(rondo::read_file(source_folder / "docs/study.md"), "sh"))
    script += block;
  script = std::regex_replace(script, std::regex("fit:80k"), "fit:7k");
  script = std::regex_replace(script, std::regex("train.steps=2000"), "train.steps=3");
  rondo::write_bytes(data / "study.sh", script);
  const std::string command = fmt::format("cd '{}' && PATH='{}':$PATH bash study.sh > out.txt 2> err.txt",
                                          data.path("."), fs::absolute(RONDO_PROGRAM).parent_path().string());
  ASSERT_EQ(std::system(command.c_str()), 0) << rondo::read_file(data / "err.txt");
  const std::string csv = rondo::read_file(data / "cells.csv"), out = rondo::read_file(data / "out.txt");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4) << "a row for each cell:\n" << csv;
  EXPECT_NE(csv.find("bits deviation"), std::string::npos);
  EXPECT_NE(rondo::read_file(data / "cells.tex").find("± "), std::string::npos);
  EXPECT_TRUE(fs::exists(data / "pictures/sweep.svg"));
  EXPECT_NE(out.find("\nruns/cells/cell=mlstm_seed=1\t"), std::string::npos) << out;
  const std::string surprisal = rondo::read_file(data / "surprisal.csv");
  EXPECT_EQ(std::count(surprisal.begin(), surprisal.end(), '\n'), 9) << surprisal;
  EXPECT_NE(surprisal.find("\n1,mismatch,2,3,zat,"), std::string::npos) << surprisal;
}

// `rm -rf` would take a blank for the end of a name.
TEST(Makefile, CleansNoOtherFolders) {
  if (std::system("make --version > /dev/null") != 0) GTEST_SKIP() << "no make";
  const std::string clean = "make --dry-run -C '" + source_folder.string() + "' clean BUILD=";
  EXPECT_EQ(std::system((clean + "other | grep -q '^rm -rf other other-sanitize '").c_str()), 0);
  for (const std::string name : {"'my build'", "'build '", "''"})
    EXPECT_NE(std::system((clean + name + " > /dev/null 2>&1").c_str()), 0) << name;
}

TEST(Pages, BlocksAreFoundWhole) {
  const std::string page = "a\n```cpp\nint a;\n```\n```sh\nls\n```\n\n```cpp\nint b;\nint c;\n```\n";
  EXPECT_EQ(code_blocks(page), (std::vector<std::string>{"int a;\n", "int b;\nint c;\n"}));
  EXPECT_THROW(code_blocks("\n```cpp\nint a;"), std::runtime_error);
}

TEST(Pages, LinksAreFound) {
  const std::string page =
      "[a](b.md), [c](https://d.e/f) and [g](#h)\n```cpp\n[y](const)\n```\n![i](j/k.svg) [l](m.md#n) (o) [p]";
  EXPECT_EQ(linked_files(page), (std::vector<std::string>{"b.md", "j/k.svg", "m.md"}));
}

}  // namespace
