// What the program prints of names that others chose: nothing that a terminal would obey.
#include <algorithm>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

const std::string sequence = "\x1b]0;renamed\a\x1b[2J";  // names the window, clears the screen

/// Whether a terminal would do more than show `text`.
bool is_obeyed(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7f; });
}

TEST(Terminal, ADataFolderOfAnyNameIsShownEscaped) {
  SmallData data;
  const std::string folder = "data" + sequence + "\n";
  fs::rename(data / "data", data / folder);
  write_bytes(data / folder / "test.txt",
              "the cat sat\r\non a mat\r\n");  // which is said, with the file's name
  const Result trained = run_lm({"train", "--recipe", data.path("small.toml"), "--data", data.path(folder),
                                 "--out", data.path("run"), "--threads", "1", "--epochs", "1"});
  EXPECT_EQ(trained.status, 0) << trained.err;
  expect_contains(trained.out, "CRLF");
  expect_contains(trained.out, "data\\x1b]0;renamed\\x07\\x1b[2J\\x0a");
  EXPECT_FALSE(is_obeyed(trained.out)) << trained.out;

  const std::string info = output_of_lm({"info", data.path("run")});
  expect_contains(info, "data\\x1b]0;renamed\\x07\\x1b[2J\\x0a");
  EXPECT_FALSE(is_obeyed(info)) << info;
}

TEST(Terminal, WhatARecipeSaysOfItselfHasNoControlCharacters) {
  const SmallData data;
  for (const std::string escape : {"\\u001b[2J", "\\u009b2J", "\\r"}) {
    write_bytes(data / "hostile.toml", "[recipe]\nname = \"x" + escape + "\"\n");
    expect_refused(run_lm({"info", "--recipe", data.path("hostile.toml"), "--vocab-size", "9"}),
                   "expected a string without control characters");
    write_bytes(data / "hostile.toml",
                "[recipe]\ndescription = \"x" + escape + "\"\npaper = \"x" + escape + "\"\n");
    const Result shown = run_lm({"info", "--recipe", data.path("hostile.toml"), "--vocab-size", "9"});
    EXPECT_EQ(shown.status, 0) << shown.err;
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
