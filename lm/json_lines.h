// Files of one JSON object a line: log.jsonl and evaluations.jsonl.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace rondo {

/// Calls `use` with each line; none where there is no such file. A last line without its end, which a process
/// that was killed has left, is not read. `use` says whether it is a line of this file; where it does not, or
/// finds something missing, and where a line is no JSON, InputError "FILE:LINE: not a line that WRITER".
void read_json_lines(const std::filesystem::path& path, const std::string& writer,
                     const std::function<bool(const nlohmann::ordered_json&)>& use);

}  // namespace rondo
