// What a file is that is not plain text, by its first bytes: for messages that say how to get its text.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// "a gzip file; unpack it first, as by: gunzip --keep FILE", or nothing if the bytes do not begin like a
/// file of a known kind.
std::string kind_of_file(std::string_view bytes);

}  // namespace rondo
