// Requests of other programs.
#include "lm/commands/requests.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lm/commands/options.h"
#include "lm/program/files.h"
#include "lm/program/settings.h"
#include "lm/program/terminal.h"
#include "lm/program/toml.h"
#include "tensor/error.h"

namespace rondo {

void add_json_lines(CLI::App& to, bool& into, const std::string& example) {
  to.add_flag("--json-lines", into,
              "for other programs: read requests from standard input, a JSON object a line, as in " +
                  example + ", and answer each by such a line");
}

void read_request(const std::string& line, const Keys& keys) {
  check_input(is_json_object(line), "a request is one JSON object");
  const auto request = nlohmann::json::parse(line);
  for (const auto& [name, value] : request.items()) {
    check_input(!value.is_null(), "request: {} is null", name);
    apply_setting({"request", name, value.is_string() ? toml_text(value.get<std::string>()) : value.dump()},
                  keys);
  }
}

int answer_requests(const std::function<nlohmann::ordered_json(const std::string& line)>& answer) {
  InputLines lines;
  for (std::string line; lines.next(line);) {
    nlohmann::ordered_json answered;
    try {
      answered = answer(line);
    } catch (const InputError& error) {
      answered = {{"error", error.what()}};
    }
    fmt::print("{}\n", answered.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    flush_output();
  }
  return 0;
}

}  // namespace rondo
