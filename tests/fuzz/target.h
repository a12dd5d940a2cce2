// Fuzzing: functions that are given any bytes as one of the inputs of `lm` and may refuse them with an
// InputError, but may do nothing else wrong. `make fuzz` lets libFuzzer (fuzzer.cpp) look for bytes that they
// cannot take; replay_test.cpp gives them what was ever found, and needs no clang. A new crash: put its file
// into found/TARGET. A new target: a file that defines it, and its line here and in targets.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::fuzz {

struct Target {
  std::string name;
  /// Reads the input and, where there is a writer, writes and reads it again. Throws InputError where the
  /// input is refused, Violation where something is wrong.
  std::function<void(std::string_view)> run;
  /// Good inputs, from which fuzzing begins.
  std::vector<std::string> seeds;
  /// Inputs that were found to be harmful, and are too long for a file.
  std::vector<std::string> found{};
  /// It may allocate so many bytes whatever the input is, as for a small model.
  size_t bytes_always = 2 << 20;
};

Target settings(), text(), vocabulary(), safetensors(), arpa(), recording(), pieces();
const std::vector<Target>& targets();

struct Violation : std::logic_error {
  using std::logic_error::logic_error;
};
inline void demand(bool ok, const std::string& what) {
  if (!ok) throw Violation(what);
}

/// Runs a target; Violation if it allocates much more than what it was given.
void judge(const Target& target, std::string_view input);

/// A file of the target's own, and the same with these bytes.
std::filesystem::path scratch(const std::string& name);
std::filesystem::path scratch(const std::string& name, std::string_view bytes);

/// Takes the first byte off, which chooses among the ways of reading the rest; 0 where there is none.
inline unsigned take_choice(std::string_view& input) {
  const unsigned choice = input.empty() ? 0 : static_cast<unsigned char>(input[0]);
  input.remove_prefix(input.empty() ? 0 : 1);
  return choice;
}

}  // namespace rondo::fuzz
