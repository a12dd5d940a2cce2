// Names that other programs use for a setting or an option of this one: for error messages that give the
// right name.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// The key of a setting that others call so ("lr", "train.lr", "batch_size", "batch-size"), if `name`
/// has no section or the key's; empty: none.
std::string setting_called(std::string_view name);

/// The key of language models with this last word ("hidden", "weight-decay"), the first if there are several,
/// and none of published figures; empty: none.
std::string setting_ending_in(std::string_view word);

/// The command that others call so ("test"); empty: none.
std::string command_called(std::string_view name);

/// The option of `command` that others call so ("--temp"), without its dashes; empty: none.
std::string option_called(std::string_view command, std::string_view name);

}  // namespace rondo
