// `lm help`: the help of all commands, or of one.
#include "lm/commands/options.h"
#include "lm/program/cli.h"

namespace rondo {

Command add_help(CommandLine& line) {
  const auto name = std::make_shared<std::string>();
  CLI::App& app = add_command(line, "help", "explain a command, as its --help does", "lm help train");
  app.add_option("command", *name, "one of those that lm --help lists (default: all of them)")
      ->type_name("COMMAND");
  return {&app, [name, &line] {
            const CLI::App* explained = &line.app;
            std::vector<std::string> names;
            for (const CLI::App* command : line.app.get_subcommands([](CLI::App*) { return true; })) {
              names.push_back(command->get_name());
              if (command->check_name(*name)) explained = command;
            }
            check_input(name->empty() || explained != &line.app, "help: unknown command '{}'{}", *name,
                        did_you_mean(*name, names));
            const std::string called = name->empty() ? "lm" : "lm " + explained->get_name();
            fmt::print("{}",
                       explained->get_formatter()->make_help(explained, called, CLI::AppFormatMode::Normal));
            return 0;
          }};
}

}  // namespace rondo
