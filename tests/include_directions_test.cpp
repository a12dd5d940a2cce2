// Includes point down only: lm -> data, optim, nn -> autograd -> tensor -> cuda, and so within lm and nn.
// This reads the sources and fails on an arrow that runs up, on SIMD types in headers that users include, and
// on a .cc that does not say it is compiled twice. It deliberately knows no more of C++ than #include "..."
// lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

/// What each folder may include besides itself; tests and benchmarks may include everything.
const std::map<std::string, Names> allowed = {
    {"lm", {"data", "optim", "nn", "autograd", "tensor", "cuda"}},
    {"data", {}},
    {"optim", {"tensor"}},
    {"nn", {"autograd", "tensor"}},
    {"autograd", {"tensor"}},
    {"tensor", {"cuda"}},
    {"cuda", {}},
};
/// The folders within a folder, from the top down; what lies beside them lies below them.
const std::map<std::string, std::vector<std::string>> storeys = {
    {"lm",
     {"lm/commands", "lm/report", "lm/program", "lm/inference/alone", "lm/inference", "lm/tasks",
      "lm/training", "lm/evaluation", "lm/decoding", "lm/settings"}},
    {"data", {"data/speech", "data/sentences", "data/ngram", "data/text", "data/files"}},
    {"nn", {"nn/models", "nn/output", "nn/recurrent", "nn/cells", "nn/layers", "nn"}},
};
/// The headers that every folder may include.
const Names for_all = {"tensor/error.h", "tensor/keys.h", "tensor/threads.h"};
/// Their types' width follows the compiler's flags, so only what Rondo itself compiles may see them.
const Names kernel_headers = {"tensor/simd/vec.h",
                              "tensor/simd/cpu_row.h",
                              "tensor/simd/gpu_row.h",
                              "tensor/kernels/launch.h",
                              "tensor/kernels/pointwise_kernels.h",
                              "tensor/kernels/scan_kernels.h",
                              "tensor/kernels/operator_entries.h"};

std::string folder_of(const std::string& path) { return path.substr(0, path.find('/')); }
std::string subfolder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Which storey of its folder a file is on, from the top down.
std::ptrdiff_t storey_of(const std::string& path) {
  if (path == "lm/program/main.cpp") return -1;  // it runs the commands
  const auto folder = storeys.find(folder_of(path));
  if (folder == storeys.end()) return 0;
  return std::ranges::find(folder->second, subfolder_of(path)) - folder->second.begin();
}

/// The lines of `text` without any spaces and tabs, so that layout does not matter.
std::vector<std::string> bare_lines(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(lines, line); result.push_back(line)) {
    std::erase_if(line, [](unsigned char c) { return std::isspace(c); });
  }
  return result;
}

/// Whether the comment that `text` opens with says "compiled twice".
bool says_compiled_twice(const std::string& text) {
  std::string comment;
  for (const std::string& line : bare_lines(text)) {
    if (!line.starts_with("//")) break;
    comment += line.substr(2);
  }
  return comment.find("ompiledtwice") != std::string::npos;
}

/// What is wrong with the file `path`, counted from the top of the sources, whose content is `text`.
std::vector<std::string> complaints(const std::string& path, const std::string& text) {
  const std::string from = folder_of(path);
  const auto rule = allowed.find(from);
  const bool is_kernel = path.ends_with(".cc") || path.ends_with(".cu") || from == "tests" ||
                         kernel_headers.contains(path) || (from == "tensor" && path.ends_with(".cpp"));

  std::vector<std::string> result;
  const std::string include = "#include\"";
  for (const std::string& line : bare_lines(text)) {
    if (!line.starts_with(include)) continue;
    const std::string name = line.substr(include.size(), line.find('"', include.size()) - include.size());
    if (!fs::exists(fs::path(RONDO_SOURCE_DIR) / name)) {
      result.push_back(path + ": \"" + name + "\" is not a path from the top of the sources");
    }
    if (rule == allowed.end()) continue;
    const std::string to = folder_of(name);
    if (to != from && !for_all.contains(name) && !rule->second.contains(to)) {
      result.push_back(path + ": " + from + "/ may not include \"" + name + "\"");
    }
    if (to == from && storey_of(name) < storey_of(path)) {
      result.push_back(path + ": " + subfolder_of(path) + "/ lies below \"" + name + "\"");
    }
    if (kernel_headers.contains(name) && !is_kernel) {
      result.push_back(path + ": only kernels may include \"" + name + "\"");
    }
  }
  if (path.ends_with(".cc") && !says_compiled_twice(text)) {
    result.push_back(path + ": its opening comment does not say that it is compiled twice");
  }
  return result;
}

/// Whether a '/' follows a letter: regular expressions are slow, and few lines have one.
bool may_name_a_file(const std::string& line) {
  for (std::size_t i = 1; i < line.size(); ++i)
    if (line[i] == '/' && std::isalpha(static_cast<unsigned char>(line[i - 1]))) return true;
  return false;
}

}  // namespace

TEST(IncludeDirections, HoldInAllSources) {
  int files = 0;
  for (const char* top : {"lm", "data", "optim", "nn", "autograd", "tensor", "cuda", "tests", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(RONDO_SOURCE_DIR) / top)) {
      if (!Names{".h", ".cpp", ".cc", ".cu"}.contains(entry.path().extension())) continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      for (const auto& complaint :
           complaints(fs::relative(entry.path(), RONDO_SOURCE_DIR).generic_string(), text.str())) {
        ADD_FAILURE() << complaint;
      }
      ++files;
    }
  }
  EXPECT_GT(files, 10) << "too few sources under " << RONDO_SOURCE_DIR;
}

// A comment or a page that sends a reader to a file that has moved.
TEST(IncludeDirections, EveryFileThatIsNamedIsThere) {
  const std::regex path(
      R"(\b(lm|data|optim|nn|autograd|tensor|cuda|tests|bench|docs)/[a-z_/]+\.(h|cpp|cc|cu|md|py)\b)");
  const std::string self = "include_directions_test.cpp";
  for (const auto& entry : fs::recursive_directory_iterator(RONDO_SOURCE_DIR)) {
    const std::string file = fs::relative(entry.path(), RONDO_SOURCE_DIR).generic_string();
    const bool is_source = allowed.contains(folder_of(file)) || file.starts_with("tests/") ||
                           file.starts_with("bench/") || file.starts_with("docs/") || file == "README.md";
    if (!is_source || entry.path().filename() == self ||
        !Names{".h", ".cpp", ".cc", ".cu", ".md"}.contains(entry.path().extension()))
      continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    std::istringstream lines(text.str());
    for (std::string line; std::getline(lines, line);) {
      if (!may_name_a_file(line)) continue;
      for (std::sregex_iterator it(line.begin(), line.end(), path), end; it != end; ++it)
        EXPECT_TRUE(fs::exists(fs::path(RONDO_SOURCE_DIR) / it->str())) << file << " names " << it->str();
    }
  }
}

TEST(IncludeDirections, ComplainsOfArrowsThatRunUp) {
  const std::string error = "#include \"tensor/error.h\"\n";
  const std::string vec = "#include \"tensor/simd/vec.h\"\n";
  const std::string self = "  #  include \"tests/include_directions_test.cpp\"\n";
  const auto count = [](const char* path, const std::string& text) { return complaints(path, text).size(); };
  for (const auto& rule : allowed) EXPECT_EQ(count((rule.first + "/a.h").c_str(), error), 0u) << rule.first;
  EXPECT_EQ(count("tensor/a.h", error + self), 1u);
  EXPECT_EQ(count("tests/a.h", self), 0u);
  EXPECT_EQ(count("data/a.h", "#include \"tensor/no_such_header.h\"\n"), 2u);
  EXPECT_EQ(count("tests/a.h", "#include \"include_directions_test.cpp\"\n"), 1u);
  EXPECT_EQ(count("tensor/a.cc", "// Compiled twice.\n" + error), 0u);
  EXPECT_EQ(count("tensor/a.cc", "// Compiled\n// twice, by g++ and by nvcc.\n"), 0u);
  EXPECT_EQ(count("tensor/a.cc", error + "// Compiled twice.\n"), 1u);
  EXPECT_EQ(count("tensor/a.h", vec), 1u);
  EXPECT_EQ(count("nn/a.cpp", vec), 1u);
  EXPECT_EQ(count("tensor/a.cpp", vec), 0u);
  EXPECT_EQ(count("tests/a.cpp", vec), 0u);
  const std::string trainer = "#include \"lm/training/trainer.h\"\n";
  EXPECT_EQ(count("lm/tasks/a.h", trainer), 0u);
  EXPECT_EQ(count("lm/training/a.h", trainer), 0u);
  EXPECT_EQ(count("lm/evaluation/a.h", trainer), 1u);
  EXPECT_EQ(count("lm/evaluation/a.h", "#include \"lm/program/recipe.h\"\n"), 1u);
  EXPECT_EQ(count("lm/program/a.h", "#include \"lm/commands/options.h\"\n"), 1u);
  EXPECT_EQ(count("lm/commands/a.h", "#include \"lm/program/recipe.h\"\n"), 0u);
  EXPECT_EQ(count("nn/module.h", "#include \"nn/layers/linear.h\"\n"), 1u);
  EXPECT_EQ(count("nn/layers/a.h", "#include \"nn/cells/cell.h\"\n"), 1u);
  EXPECT_EQ(count("nn/models/a.h", "#include \"nn/cells/cell.h\"\n"), 0u);
  EXPECT_EQ(count("data/files/a.h", "#include \"data/text/text.h\"\n"), 1u);
  EXPECT_EQ(count("data/text/a.h", "#include \"data/files/lines.h\"\n"), 0u);
}
