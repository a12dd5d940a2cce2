// Names that other programs use for a setting, an option, a command or a value of this one: for error texts
// that give the right name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// The key of a setting that others call so ("lr", "train.lr", "batch-size"); empty: none.
std::string setting_called(std::string_view name);
/// The key of language models with this last word ("hidden", "weight-decay"), the first if there are several,
/// and none of published figures; empty: none.
std::string setting_ending_in(std::string_view word);

/// The command that others call so ("test"); empty: none.
std::string command_called(std::string_view name);

/// The option, one of `flags`, that others call so ("gpu"), and its value ("--device cuda"); empty: none.
std::string option_called(std::string_view name, const std::vector<std::string>& flags);

/// The end of an error text for a value that is none of these choices: the choice that others call so
/// ("gpu"), else the nearest one; else empty.
std::string instead_of_value(const std::string& value, const std::vector<std::string>& choices);

}  // namespace rondo
