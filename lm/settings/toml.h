// TOML 1.0 (toml.io), the part that recipes and config.toml need: sections of keys, [name] or [table.name],
// whose values are booleans, numbers, strings of one line, and lists of these. Numbers are read as
// std::from_chars reads them: without underscores, in base 10. Everything else is refused. Settings:
// settings.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rondo {

/// The position where something begins in a text, counted from 1; columns are characters.
struct TomlPosition {
  std::int64_t line = 1, column = 1;
};

using TomlScalar = std::variant<bool, std::int64_t, double, std::string>;
struct TomlValue {
  std::vector<TomlScalar> scalars;  // one, unless it is a list
  bool is_list = false;
};

struct TomlKey {
  std::string name;  // "section.name"; before all sections "name"; "section." for a section's header
  TomlPosition position;
  TomlValue value;
  TomlPosition value_position;
};

/// "FILE:LINE:COLUMN"
std::string place_text(const std::string& file, const TomlPosition& it);

/// The maximum size of a text.
constexpr std::size_t max_toml_bytes = std::size_t{4} << 20;

/// The keys in the order of the text. InputError "FILE:LINE:COLUMN: ..." for what is not such a text. Takes
/// linear time and does not recurse.
std::vector<TomlKey> parse_toml(std::string_view text, const std::string& file);

/// A value and nothing else. InputError as above.
TomlValue parse_toml_value(std::string_view text);

/// Values as TOML, which are read back exactly; in a string, bytes that are not UTF-8 become U+FFFD.
std::string toml_text(bool value);
std::string toml_text(std::int64_t value);
std::string toml_text(double value);
std::string toml_text(const std::string& value);

}  // namespace rondo
