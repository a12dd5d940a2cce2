// Files of one JSON object a line.
#include "lm/json_lines.h"

#include <cstdint>

#include "data/text.h"
#include "tensor/error.h"

namespace rondo {

void read_json_lines(const std::filesystem::path& path, const std::string& writer,
                     const std::function<bool(const nlohmann::ordered_json&)>& use) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_file(path);
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    ++number;
    bool good = false;
    try {
      good = use(nlohmann::ordered_json::parse(text.substr(begin, end - begin)));
    } catch (const nlohmann::json::exception&) {  // not JSON, or without what belongs there
    }
    check_input(good, "{}:{}: not a line that {}; take it out", path.string(), number, writer);
    begin = end + 1;
  }
}

}  // namespace rondo
