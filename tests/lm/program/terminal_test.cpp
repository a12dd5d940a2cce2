// What the program prints of names that others chose: nothing that a terminal would obey.
#include <algorithm>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

const std::string sequence = "\x1b]0;renamed\a\x1b[2J";  // names the window, clears the screen

/// Whether a terminal would do more than show `text`.
bool is_obeyed(const std::string& text) {
  return text.find("\u202e") != text.npos || text.find('\xff') != text.npos ||
         std::ranges::any_of(text, [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7f; });
}

// Printed by each command, of the data, the run and a text.
TEST(Terminal, AFolderOfAnyNameIsShownEscaped) {
  SmallData data;
  const std::string name = "a\xff'" + sequence + "\u202e\n", run = data.path(name + "/run"),
                    text = data.path(name + "/t");
  fs::rename(data / "data", data / name);
  write_bytes(data / name / "test.txt",
              "the cat sat\r\non a mat\r\n");  // which is said, with the file's name
  fs::copy(data / name / "test.txt", text);
  const auto check = [](const std::vector<std::string>& words, const std::string& also = "") {
    const Result result = run_lm_well(words);
    EXPECT_FALSE(is_obeyed(result.out + result.err)) << result.out << result.err;
    expect_contains(result.out, "a\\xff'\\x1b]0;renamed\\x07\\x1b[2J\\xe2\\x80\\xae\\x0a/");
    expect_contains(result.out, also);
  };
  check({"train", "--recipe", data.path("small.toml"), "--data", data.path(name), "--out", run, "--threads",
         "1", "--epochs", "1", "train.probe_every=1"},
        "CRLF");
  check({"table", run, run});
  check({"eval", run, text});
  check({"probe", run, "--data", data.path(name)});  // config.toml has no name that is not UTF-8
  expect_contains(run_lm({"probe", run}).err, "--data says where it is now");
  for (const char* command : {"info", "plot"}) check({command, run});
  check({"export", run, "--out", run + "/out"});
  check({"import", run + "/out", "--out", run + "/back"});
}

TEST(Terminal, WhatARecipeSaysOfItselfHasNoControlCharacters) {
  const SmallData data;
  for (const std::string escape : {"\\u001b[2J", "\\u009b2J", "\\r"}) {
    write_bytes(data / "hostile.toml", "[recipe]\nname = \"x" + escape + "\"\n");
    expect_refused({"info", "--recipe", data.path("hostile.toml"), "--vocab-size", "9"},
                   "expected a string without control characters");
    write_bytes(data / "hostile.toml",
                "[recipe]\ndescription = \"x" + escape + "\"\npaper = \"x" + escape + "\"\n");
    const Result shown = run_lm_well({"info", "--recipe", data.path("hostile.toml"), "--vocab-size", "9"});
    EXPECT_FALSE(is_obeyed(shown.out)) << shown.out;
  }
  write_bytes(data / ("recipe" + sequence + ".toml"), "[model]\nhidden = 8\n");
  const Result result =
      run_lm({"info", "--recipe", data.path("recipe" + sequence + ".toml"), "--vocab-size", "9"});
  expect_refused(result, "expected a name in UTF-8 without '/', '`' and control characters");
  EXPECT_FALSE(is_obeyed(result.err)) << result.err;
}

}  // namespace
}  // namespace rondo
