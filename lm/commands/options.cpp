// What the options of several commands have in common: see options.h.
#include "lm/commands/options.h"

#include <limits>

namespace rondo {

CLI::App& add_command(CommandLine& line, const std::string& name, const std::string& what,
                      const std::string& example, const std::string& about) {
  CLI::App& command = *line.app.add_subcommand(name, what);
  command.group("Commands");
  command.footer(about + (about.empty() ? "" : "\n\n") + "Example:\n  " + example);
  command.allow_extras();  // leftover words get an error text of our own
  return command;
}

CLI::Validator integer(std::int64_t least, std::int64_t most) {
  return in_range(least, most, fmt::format("an integer, {} to {}", least, most));
}
CLI::Validator integer(std::int64_t least) {
  return in_range(least, std::numeric_limits<std::int64_t>::max(),
                  fmt::format("an integer, at least {}", least));
}
CLI::Validator not_negative() {
  return in_range(0.0, std::numeric_limits<double>::max(), "a number, 0 or above");
}
CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) -> std::string { return text.empty() ? "'': expected a value" : ""; }, "");
}

CLI::Option* add_list(CLI::App& to, const std::string& name, std::vector<std::string>& into,
                      const std::string& type, const std::string& what) {
  return add_text(to, name, into, type, what)->expected(1)->take_all();
}

std::vector<CLI::Option*> add_table_forms(CLI::App& to, TableForm*& into) {
  std::vector<CLI::Option*> added;
  const auto add = [&](const char* name, TableForm* form, const char* what) {
    const auto set = [&into, form](std::int64_t) { into = form; };
    CLI::Option* const flag = to.add_flag_function(name, set, what);
    for (CLI::Option* other : added) flag->excludes(other);
    added.push_back(flag);
  };
  add("--json", json_text_of, "print one JSON object");
  add("--markdown", markdown_of, "print a table for a page on GitHub");
  add("--csv", csv_of, "print comma-separated values, one number per cell");
  add("--latex", latex_of, "print a tabular of LaTeX");
  return added;
}

CLI::Option* add_setting(CLI::App& to, const std::string& name, const std::string& key,
                         std::vector<Setting>& into, const std::string& what) {
  const auto add = [&into, name, key](const std::string& value) {
    into.push_back({name + " " + value, key, value});
  };
  return to.add_option_function<std::string>(name, add, what)->type_name("N")->check(not_empty());
}

}  // namespace rondo
