// Files with one JSON object per line: log.jsonl and evaluations.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace rondo {

/// Whether a line is complete: one JSON object.
bool is_json_object(std::string_view line);

/// Calls `use` with each line; never if the file does not exist. An incomplete last line, which a killed
/// process may leave, is not read. `use` returns whether the object is a line of this file. If it returns
/// false, finds something missing or throws InputError, or a line is not JSON: InputError "FILE:LINE: not a
/// line that WRITER", with the reason of an InputError. InputErrors of read_lines().
void read_json_lines(const std::filesystem::path& path, const std::string& writer,
                     const std::function<bool(const nlohmann::json&)>& use);

/// Now, in UTC, as ISO 8601: "2026-11-26T02:48:07Z".
std::string time_text();

/// An integer. InputError for other numbers and for integers beyond 64 bits, which a conversion would accept.
std::int64_t integer_at(const nlohmann::json& entry, const std::string& key);
/// A figure; NaN where it is null, which is how JSON has figures that are not finite. Other types throw.
double figure_at(const nlohmann::json& entry, const std::string& key);
/// The same of a figure that not every task has.
std::optional<double> optional_figure_at(const nlohmann::json& entry, const std::string& key);

}  // namespace rondo
