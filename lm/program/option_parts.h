// What the options of several commands are made of. Next: lm/program/options.cpp.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "lm/program/compute.h"
#include "tensor/keys.h"
#include "tensor/threads.h"

namespace rondo {

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
inline CLI::Validator integer(std::int64_t least, std::int64_t most) {
  return in_range(least, most, fmt::format("an integer, {} to {}", least, most));
}
inline CLI::Validator integer(std::int64_t least) {
  return in_range(least, std::numeric_limits<std::int64_t>::max(),
                  fmt::format("an integer, at least {}", least));
}

/// Refuses an empty value, as from an unset shell variable: it is not the same as leaving the option out.
inline const CLI::Validator not_empty(
    [](std::string& text) -> std::string { return text.empty() ? "'': expected a value" : ""; }, "");

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
template <class Of>
void add_device(CLI::App& to, Of& options) {
  add_choice<Device>(to, "--device", options.device, "where to compute: cpu or cuda (default: cpu)");
  add_choice<Precision>(
      to, "--precision", options.precision,
      "how matrices are multiplied: fp32, or rounded and faster, bf16 or, on a GPU, tf32 (default: fp32)");
  to.add_option(
        "--threads", options.threads,
        "threads of the CPU (default: OMP_NUM_THREADS, else one per core; waiting threads sleep, so that "
        "they cost other programs little)")
      ->check(integer(1, max_threads))
      ->type_name("N");
}

}  // namespace rondo
