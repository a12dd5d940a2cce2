// What make_translation_golden.py (beside this) got from sacreBLEU and Python: translation.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace rondo {

/// Read once.
inline const nlohmann::json& translation_golden() {
  static const nlohmann::json golden =
      nlohmann::json::parse(bytes_of_file(RONDO_SOURCE_DIR "/tests/golden/translation.json"));
  return golden;
}

using Strings = std::vector<std::string>;

/// The references of each sentence.
inline std::vector<Strings> references_of(const nlohmann::json& corpus) {
  return corpus.at("references").get<std::vector<Strings>>();
}

/// A line in sacreBLEU's form, as another program prints it: "...|version:VERSION = 12.34 ...".
inline std::string with_version(std::string line, const std::string& version) {
  const std::string key = "|version:";
  const std::size_t at = line.find(key) + key.size();
  return line.replace(at, line.find(' ', at) - at, version);
}

}  // namespace rondo
