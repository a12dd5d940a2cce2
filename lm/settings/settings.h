// Settings, by their tables of keys (tensor/keys.h): reading TOML, `--set`, writing TOML with the
// documentation as comments, error texts, and the list of `lm info --keys`. Next: lm/program/recipe.h.
#pragma once

#include <string>
#include <vector>

#include "tensor/keys.h"

namespace rondo {

/// A value from the command line; `where` is what the user typed ("--set model.layers=2", "--epochs 5").
struct Setting {
  std::string where, key, value;
};

/// "KEY=VALUE" as given to `--set`. InputError if there is no "=".
Setting parse_setting(const std::string& text);

/// Whether a text may have keys that are not asked for.
enum class OtherKeys { refused, ignored };

/// Assigns from the text of a TOML file. InputError "FILE:LINE:COLUMN: ..." for bad syntax, an unknown
/// section or key (naming the nearest), a wrong type and a value out of range. Keys that are not in the text
/// keep their values.
void read_toml(const std::string& text, const std::string& file, const std::vector<Key>& keys,
               OtherKeys others = OtherKeys::refused);

/// Returns whether one of the keys has this name.
bool has_key(const std::vector<Key>& keys, const std::string& name);

/// Assigns one value, written as in TOML; strings need no quotes. Returns its key. InputErrors as read_toml,
/// naming `where`.
const Key& apply_setting(const Setting& setting, const std::vector<Key>& keys);

/// The values as TOML, every key with its documentation; read_toml reads it back to the same values exactly.
std::string write_toml(const std::vector<Key>& keys);

/// The value of a key, as TOML.
std::string value_text(const Key& key);
/// A list of all keys for a reader: name, value, accepted values, unit and documentation. Where `defaults`
/// has another value, that is given beside it.
std::string list_keys(const std::vector<Key>& keys, const std::vector<Key>& defaults);
/// The value that `defaults` has for the key, as TOML.
std::string default_text(const Key& key, const std::vector<Key>& defaults);

}  // namespace rondo
