// Settings: a table of keys bound to plain structs, and what follows from such a table: reading TOML,
// `--set`, writing TOML with the documentation as comments, error texts, the listing of `lm info --keys`.
// Deliberately without any key of its own: recipe.h has those. Go on there.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rondo {

/// Where a key's value is kept: a member of a plain struct. Its value at the start is the default.
using Member = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::int64_t>*,
                            std::vector<double>*, std::vector<std::string>*>;

/// What a key accepts: for numbers (also in lists) a range, for strings a choice, where one is given. Strings
/// are printed, so that control characters are for those alone that can hold a file's name or a command.
struct Limits {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool max_included = true;
  std::vector<std::string> choices{};
  bool control_characters = false;
};
Limits at_least(double least);
Limits between(double least, double most);
Limits from_to_below(double least, double most);
Limits one_of(std::vector<std::string> choices);
Limits any_text();  // but for NUL, which no file's name and no command holds

/// One setting. `name` is "section.key"; `unit` may be empty; `doc` is one line.
struct Key {
  std::string name;
  Member member;
  Limits limits;
  std::string unit;
  std::string doc;
};

/// A value from the command line; `where` is what the user typed ("--set model.layers=2", "--epochs 5").
struct Setting {
  std::string where, key, value;
};

/// "KEY=VALUE" as given to `--set`. InputError if there is no "=".
Setting parse_setting(const std::string& text);

/// Assigns from the text of a TOML file. InputError "FILE:LINE:COLUMN: ..." for bad syntax, an unknown
/// section or key (naming the nearest), a wrong type and a value out of its limits; nothing is assigned to
/// keys that the text leaves out.
void read_toml(const std::string& text, const std::string& file, const std::vector<Key>& keys);

/// Assigns one value, written as in TOML; strings need no quotes. InputErrors as read_toml, naming `where`.
void apply_setting(const Setting& setting, const std::vector<Key>& keys);

/// The values as TOML, every key with its documentation; read_toml reads it back to the same values exactly.
std::string write_toml(const std::vector<Key>& keys);

/// The value of a key, as TOML writes it.
std::string value_text(const Key& key);
/// What a key accepts: "an integer, at least 1", "one of: rnn, lstm", "true or false".
std::string accepted_text(const Key& key);
/// All keys for a reader: name, default, what is accepted, unit and documentation.
std::string list_keys(const std::vector<Key>& keys);

}  // namespace rondo
