// Requests of other programs.
#include "lm/commands/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/terminal.h"
#include "lm/settings/settings.h"
#include "lm/settings/toml.h"
#include "tensor/error.h"

namespace rondo {

void add_json_lines(CLI::App& to, bool& into, const std::string& example,
                    const std::vector<std::string>& excluded) {
  CLI::Option* flag =
      to.add_flag("--json-lines", into,
                  "for other programs: read requests from standard input, a JSON object a line, as in " +
                      example + ", and answer each by such a line");
  for (const std::string& name : excluded) flag->excludes(to.get_option(name));
}

void read_request(const std::string& line, const Keys& keys) {
  check_input(is_json_object(line), "a request is one JSON object");
  const nlohmann::json request = parse_json_line(line);
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(key.name);
  for (const auto& [name, value] : request.items()) {
    const auto key = std::ranges::find(keys, name, &Key::name);
    check_input(key != keys.end(), "request: unknown key '{}'{}", excerpt(name), did_you_mean(name, names));
    check_input(value.is_string() == std::holds_alternative<std::string*>(key->member),
                "request: {} = {}: expected {}", name, excerpt(value.dump()), accepted_text(*key));
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
