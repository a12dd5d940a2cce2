// Files with one JSON object per line.
#include "lm/program/json_lines.h"

#include <fmt/chrono.h>

#include <ctime>
#include <limits>

#include "data/files.h"
#include "data/input_file.h"
#include "tensor/error.h"

namespace rondo {
bool is_json_object(std::string_view line) { return line.starts_with('{') && nlohmann::json::accept(line); }

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
      // Copying JSON is recursive, and deep nesting would overflow the stack. Our lines are not deep.
      constexpr int deepest = 6;
      const auto check_depth = [](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
        check_input(depth <= deepest, "nested too deeply");
        return true;
      };
      if (use(nlohmann::json::parse(line, check_depth))) return;
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
