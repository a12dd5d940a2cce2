// Two runs as `lm train` leaves them, for tests of `lm table`, and folders with a log written by a test.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/lm/program/program.h"

namespace rondo {

/// A run on words, and one on characters that a paper reports in bits.
class TableTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data = new SmallData;
    data->trained("words", {"--epochs", "2", "--set", "published.valid=5.5", "--set", "published.test=4.25"});
    data->trained("letters", {"--epochs", "1", "--set", "data.unit=characters", "--set",
                              "published.test=1.375", "--set", "published.unit=bits"});
  }
  static void TearDownTestSuite() { delete data; }

  static std::string words() { return data->path("words"); }
  static std::string letters() { return data->path("letters"); }
  static std::string log() { return bytes_of_file(std::filesystem::path(words()) / "log.jsonl"); }
  /// A copy of the run on words with another log and no evaluations; empty: without a log.
  static std::string with_log(const std::string& log) {
    const std::filesystem::path copy = *data / "copy";
    std::filesystem::remove_all(copy);
    std::filesystem::copy(words(), copy);
    std::filesystem::remove(copy / "log.jsonl");
    std::filesystem::remove(copy / "evaluations.jsonl");
    if (!log.empty()) write_bytes(copy / "log.jsonl", log);
    return copy;
  }
  /// The cells of a table in Markdown, a row a line.
  static std::vector<std::vector<std::string>> cells_of(const std::string& markdown) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(markdown);
    for (std::string line, cell; std::getline(lines, line);) {
      std::istringstream cells(line.substr(1));
      for (rows.emplace_back(); std::getline(cells, cell, '|');) rows.back().push_back(stripped_text(cell));
    }
    return rows;
  }
  static std::string stripped_text(const std::string& cell) {
    const std::size_t begin = cell.find_first_not_of(' ');
    return cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin);
  }

  inline static SmallData* data = nullptr;
};

}  // namespace rondo
