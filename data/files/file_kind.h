// What a file is that is not plain text, by its first bytes: for messages that say how to get its text.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// "a gzip file; unpack it first, as by: gunzip < FILE > NEW", or nothing if the bytes do not begin like a
/// file of a known kind.
std::string kind_of_file(std::string_view bytes);

/// By its byte-order mark.
bool looks_like_utf16(std::string_view bytes);

/// What to do with a text that is not UTF-8: "convert it to UTF-8, as by: iconv ...".
std::string conversion_to_utf8(std::string_view text);

}  // namespace rondo
