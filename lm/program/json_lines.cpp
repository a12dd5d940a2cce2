// Files with one JSON object per line.
#include "lm/program/json_lines.h"

#include <fmt/chrono.h>

#include <ctime>
#include <limits>
#include <string_view>

#include "data/files.h"
#include "data/input_file.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// The maximum depth: our lines have lists and objects of plain values. Copying JSON is recursive, and deep
/// nesting would overflow the stack.
constexpr int deepest = 6;

bool is_too_deep(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (in_string && letter == '\\')
      ++i;
    else if (letter == '"')
      in_string = !in_string;
    else if (!in_string && (letter == '{' || letter == '['))
      ++depth;
    else if (!in_string && (letter == '}' || letter == ']'))
      --depth;
    if (depth > deepest) return true;
  }
  return false;
}

}  // namespace

bool is_json_object(std::string_view line) {
  return line.starts_with('{') && !is_too_deep(line) && nlohmann::json::accept(line);
}

// nlohmann::json is a map; ordered_json would search all keys for each access.
void read_json_lines(const std::filesystem::path& path, const std::string& writer,
                     const std::function<bool(const nlohmann::json&)>& use) {
  if (!file_is_there(path)) return;
  std::int64_t number = 0;
  read_lines(path, [&](std::string_view line, bool ended) {
    if (!ended && !is_json_object(line)) return;
    ++number;
    std::string why;
    try {
      check_input(!is_too_deep(line), "nested too deeply");
      if (use(nlohmann::json::parse(line))) return;
    } catch (const nlohmann::json::exception&) {  // not JSON, or without what belongs there
    } catch (const InputError& reason) {
      why = fmt::format(" ({})", reason.what());
    }
    throw InputError(
        fmt::format("{}:{}: not a line that {}{}; remove it", path.string(), number, writer, why));
  });
}

std::string time_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::time(nullptr))); }

std::int64_t integer_at(const nlohmann::json& entry, const std::string& key) {
  const nlohmann::json& value = entry.at(key);
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max()
                        : value.is_number_integer();
  check_input(fits, "{} must be a whole number below 2^63", key);
  return value.get<std::int64_t>();
}

double figure_at(const nlohmann::json& entry, const std::string& key) {
  const nlohmann::json& value = entry.at(key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::optional<double> optional_figure_at(const nlohmann::json& entry, const std::string& key) {
  return entry.contains(key) ? std::optional(figure_at(entry, key)) : std::nullopt;
}

}  // namespace rondo
