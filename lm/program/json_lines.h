// Files of one JSON object a line: log.jsonl and evaluations.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace rondo {

/// Whether a line is whole: one JSON object, no deeper than ours.
bool is_json_object(std::string_view line);

/// Calls `use` with each line; none where there is no such file. The part of a last line that a process that
/// was killed has left is not read. `use` says whether it is a line of this file; where it does not, or
/// finds something missing, and where a line is no JSON, InputError "FILE:LINE: not a line that WRITER", with
/// the reason if `use` throws InputError. InputErrors of read_lines().
void read_json_lines(const std::filesystem::path& path, const std::string& writer,
                     const std::function<bool(const nlohmann::json&)>& use);

/// A whole number. InputError for any other and for one beyond 64 bits, which a conversion would take.
std::int64_t integer_at(const nlohmann::json& entry, const std::string& key);

}  // namespace rondo
