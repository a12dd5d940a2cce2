// What the options of several commands have in common. All that includes CLI11, which is slow to compile, are
// the files of this folder and lm/program/cli.cpp.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "lm/program/cli.h"
#include "lm/program/compute.h"
#include "lm/report/text_table.h"
#include "lm/settings/settings.h"
#include "tensor/error.h"
#include "tensor/keys.h"
#include "tensor/threads.h"

namespace rondo {

/// Adds a command. Its help ends with `about`, in paragraphs, and an example.
CLI::App& add_command(CommandLine& line, const std::string& name, const std::string& what,
                      const std::string& example, const std::string& about = "");

/// Accepts a text that is entirely a `Number` from `least` to `most`.
template <class Number>
CLI::Validator in_range(Number least, Number most, const std::string& accepted) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        std::istringstream in(text);
        Number value{};
        const bool good = in >> value && in.peek() == EOF && value >= least && value <= most;
        return good ? "" : fmt::format("'{}': expected {}", text, accepted);
      },
      "");
}
CLI::Validator integer(std::int64_t least, std::int64_t most);
CLI::Validator integer(std::int64_t least);
CLI::Validator not_negative();  // a number
/// Refuses an empty value, as from an unset shell variable: it is not the same as leaving the option out.
CLI::Validator not_empty();

/// An option whose value, called `type` in the help, passes `check`.
template <class Into>
CLI::Option* add_value(CLI::App& to, const std::string& name, Into& into, const std::string& type,
                       const CLI::Validator& check, const std::string& what) {
  return to.add_option(name, into, what)->type_name(type)->check(check);
}
/// An option with a value that is not empty.
template <class Into>
CLI::Option* add_text(CLI::App& to, const std::string& name, Into& into, const std::string& type,
                      const std::string& what) {
  return add_value(to, name, into, type, not_empty(), what);
}
/// An option that can be repeated, each time with one value that is not empty.
CLI::Option* add_list(CLI::App& to, const std::string& name, std::vector<std::string>& into,
                      const std::string& type, const std::string& what);

/// --set, which can be repeated; `parse` reads a text of the form `type`.
template <class Parsed>
CLI::Option* add_settings(CLI::App& to, std::vector<Parsed>& into, const std::string& what,
                          Parsed parse(const std::string&) = parse_setting,
                          const std::string& type = "KEY=VALUE") {
  const auto read = [&into, parse](const std::vector<std::string>& texts) {
    into.clear();
    for (const std::string& text : texts) into.push_back(parse(text));
  };
  return to.add_option_function<std::vector<std::string>>("--set", read, what)
      ->type_name(type)
      ->expected(1)
      ->take_all();
}

/// An option `name`, such as --epochs N, that gives the setting KEY.
CLI::Option* add_setting(CLI::App& to, const std::string& name, const std::string& key,
                         std::vector<Setting>& into, const std::string& what);

/// One of the names of an enum, or only of those given, in any case.
template <class Enum, class Into>
CLI::Option* add_choice(CLI::App& to, const std::string& name, Into& into, const std::string& what,
                        const std::vector<std::string>& names = names_of(Enum())) {
  const auto read = [&into](const std::string& text) { into = value_named<Enum>(text).value_or(Enum()); };
  return to.add_option_function<std::string>(name, read, what)
      ->transform(CLI::IsMember(names, CLI::ignore_case))
      ->type_name("NAME");
}

/// Where and how a command computes.
template <class Options>
void add_device(CLI::App& to, Options& options) {
  add_choice<Device>(to, "--device", options.device, "where to compute: cpu or cuda (default: cpu)");
  add_choice<Precision>(
      to, "--precision", options.precision,
      "how matrices are multiplied: fp32, or rounded and faster, bf16, on a GPU tf32, or on a CPU, to use "
      "a model, int8 (default: fp32; int8 for runs of lm quantize)");
  add_value(to, "--threads", options.threads, "N", integer(1, max_threads),
            "threads of the CPU (default: OMP_NUM_THREADS, else one per core; waiting threads sleep, so that "
            "they cost other programs little)");
}

/// --json, --markdown, --csv and --latex, of which one can be given: how a table is printed.
std::vector<CLI::Option*> add_table_forms(CLI::App& to, TableForm*& into);

/// The run folders that a command is for: one, or a list.
template <class Into>
CLI::Option* add_run(CLI::App& to, const std::string& name, Into& into, const std::string& what) {
  return to.add_option(name, into, what)->type_name("RUN")->required();
}

inline const std::string data_text =
    "a folder with train.txt, valid.txt and perhaps test.txt; or one text file, split into 90 % train, 5 % "
    "valid, 5 % test";

}  // namespace rondo
