// The nearest known name to a mistyped one, for error texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. Damerau 1964, restricted form.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name that needs the fewest edits, at most two fifths of the length of the longer name, or that
/// begins so; "" if there is none. Dashes before names do not count. Of dotted names the last part is
/// compared: "dropout" and "train.dropout" are near "model.dropout", "train.lr" is near nothing.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

/// The end of an error text: "; did you mean 'x'?", or "; known: a, b, c" if no name is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);
/// The same, with `otherwise` if no name is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         const std::string& otherwise);

}  // namespace rondo
