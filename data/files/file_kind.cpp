// What a file is; see data/files/file_kind.h.
#include "data/files/file_kind.h"

#include <array>

namespace rondo {

std::string kind_of_file(std::string_view bytes) {
  struct Kind {
    std::string_view begin, name, remedy;
  };
  using namespace std::string_view_literals;
  static constexpr std::array kinds{
      Kind{"\x1f\x8b"sv, "a gzip file", "unpack it first, as by: gunzip < FILE > NEW"},
      Kind{"BZh"sv, "a bzip2 file", "unpack it first, as by: bunzip2 < FILE > NEW"},
      Kind{"\xfd"
           "7zXZ\0"sv,
           "an xz file", "unpack it first, as by: unxz < FILE > NEW"},
      Kind{"\x28\xb5\x2f\xfd"sv, "a Zstandard file", "unpack it first, as by: unzstd < FILE > NEW"},
      Kind{"PK\x03\x04"sv, "a ZIP file", "unpack it first, as by: unzip -p FILE > NEW"},
      Kind{"%PDF-"sv, "a PDF file", "extract its text first, as by: pdftotext FILE NEW"},
  };
  for (const Kind& kind : kinds)
    if (bytes.starts_with(kind.begin)) return std::string(kind.name) + "; " + std::string(kind.remedy);
  constexpr std::size_t length = 8;  // of the number that begins a safetensors file, before its JSON header
  if (bytes.size() > length + 1 && bytes.substr(length).starts_with("{\"") && bytes[length - 1] == '\0')
    return "a safetensors file; give a text";
  return "";
}

bool looks_like_utf16(std::string_view bytes) {
  return bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
}

std::string conversion_to_utf8(std::string_view text) {
  return std::string("convert it to UTF-8, as by: iconv -f ") +
         (looks_like_utf16(text) ? "UTF-16" : "WINDOWS-1252") + " -t UTF-8 FILE > NEW";
}

}  // namespace rondo
