// The keys of an options struct: the names under which recipes and command lines set its members, their
// limits and their documentation. Each struct has its table beside it, `keys_of(Options&)`; a section of a
// recipe is such tables together. Reading and writing them as TOML: lm/settings/settings.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rondo {

/// A member that is an enum: a choice between the names of its values.
struct ChoiceMember {
  std::vector<std::string> names;
  std::function<std::size_t()> get;
  std::function<void(std::size_t)> set;
};

/// Of an enum whose names stand beside it, in the order of its values:
///
///   enum class Kind { a, b };
///   inline std::vector<std::string> names_of(Kind) { return {"a", "b"}; }
template <class Enum>
ChoiceMember choice(Enum& member) {
  return {names_of(Enum()), [&member] { return static_cast<std::size_t>(member); },
          [&member](std::size_t index) { member = static_cast<Enum>(index); }};
}
/// The name of an enum's value.
template <class Enum>
std::string name_of(Enum value) {
  return names_of(value).at(static_cast<std::size_t>(value));
}
/// The value of an enum that is named so; nothing if none is.
template <class Enum>
std::optional<Enum> value_named(std::string_view name) {
  const std::vector<std::string> names = names_of(Enum());
  for (std::size_t index = 0; index < names.size(); ++index)
    if (names[index] == name) return static_cast<Enum>(index);
  return std::nullopt;
}

/// What a recipe writes for an optional number that is not given. It lies outside the limits of all of them,
/// so that it is no value that somebody may want: a learning rate of 0 is 0.
constexpr double not_given = -1;

/// Where a key's value is kept: a member of a plain struct. Its value at the start is the default.
using Member =
    std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::int64_t>*,
                 std::vector<double>*, std::vector<std::string>*, std::optional<double>*, ChoiceMember>;

/// What a key accepts: for numbers (also in lists) a range, for strings a choice, where one is given. Strings
/// are printed: only file names and commands may contain control characters.
struct Limits {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool max_included = true;
  std::vector<std::string> choices{};
  bool control_characters = false;
};
inline Limits at_least(double min) { return {.min = min}; }
inline Limits between(double min, double max) { return {.min = min, .max = max}; }
inline Limits from_to_below(double min, double max) {
  return {.min = min, .max = max, .max_included = false};
}
inline Limits one_of(std::vector<std::string> choices) { return {.choices = std::move(choices)}; }
inline Limits any_text() { return {.control_characters = true}; }  // but for NUL

/// Far beyond any use, but small enough that products of them do not overflow.
inline Limits any_width() { return between(1, 1'000'000); }
inline Limits any_count() { return between(1, 1'000'000'000); }
/// Of a probability that something is dropped.
inline Limits any_rate() { return from_to_below(0, 1); }

/// One setting. `name` is the member's, in a recipe "section.name"; `doc` is one line. Limits and unit may be
/// left out: any value, no unit.
struct Key {
  Key(std::string key, Member of, Limits allowed, std::string of_value, std::string text,
      bool training = false)
      : name(std::move(key)),
        member(std::move(of)),
        limits(std::move(allowed)),
        unit(std::move(of_value)),
        doc(std::move(text)),
        training_only(training) {}
  Key(std::string key, Member of, Limits allowed, std::string text = "")
      : Key(std::move(key), std::move(of), std::move(allowed), "", std::move(text)) {}
  Key(std::string key, Member of, std::string text = "")
      : Key(std::move(key), std::move(of), {}, "", std::move(text)) {}

  std::string name;
  Member member;
  Limits limits;
  std::string unit;
  std::string doc;
  bool training_only;  // acts in training alone, so that a trained model does not depend on it
};
using Keys = std::vector<Key>;

/// The keys of several structs as one table.
inline Keys joined(std::vector<Keys> tables) {
  Keys all;
  for (Keys& table : tables)
    all.insert(all.end(), std::make_move_iterator(table.begin()), std::make_move_iterator(table.end()));
  return all;
}
/// The keys of a section of a recipe: "section.name".
inline Keys section(const std::string& name, Keys keys) {
  for (Key& key : keys) key.name = name + "." + key.name;
  return keys;
}

/// Whether a number is one, and within the limits.
bool within(const Limits& limits, double value);
/// What a key accepts: "an integer, at least 1", "one of: rnn, lstm", "true or false".
std::string accepted_text(const Key& key);

/// Throws InputError unless all numbers are within the limits of their keys: "momentum = 1: expected a
/// number, 0 to below 1". What a recipe sets has passed them already; what a program sets has not.
void check_limits(const Keys& keys);
template <class Options>
void check_limits_of(Options options) {
  check_limits(keys_of(options));
}

}  // namespace rondo
