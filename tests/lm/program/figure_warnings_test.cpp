// Warnings that protect a figure, and files that are no text.
#include "lm/program/figure_warnings.h"

#include "data/file_kind.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

TEST(FigureWarnings, UnknownSymbols) {
  EXPECT_EQ(warning_of_unknowns({"t.txt", 10, 100}), "");
  expect_contains(warning_of_unknowns({"t.txt", 11, 100}), "11.00 % of the 100 symbols of t.txt are unknown");
  EXPECT_EQ(warning_of_unknowns({"t.txt", 0, 0}), "");
  EXPECT_EQ(warning_of_unknowns({"t.txt", 11, 100, false}), "") << "only read";
}

TEST(FigureWarnings, ATinyText) {
  expect_contains(warning_of_size(863000, 42), "42 symbols for 863000 parameters");
  EXPECT_EQ(warning_of_size(24'221'600, 929'589), "") << "AWD-LSTM on the Penn Treebank";
}

TEST(FigureWarnings, ATable) {
  std::string table = "id,text,label\n", prose, tabs;
  for (int i = 0; i < 9; ++i) {
    table += fmt::format("{},\"so, it is\",good\n", i);
    tabs += fmt::format("{}\tgood\n", i);
    prose += i % 2 ? "It was, in short, so.\n" : "And that was all.\n";
  }
  expect_contains(warning_of_table(table, "t.csv"), "t.csv looks like a table of 3 columns");
  expect_contains(warning_of_table(tabs, "t"), "2 columns");
  EXPECT_EQ(warning_of_table(prose, "t"), "");
  EXPECT_EQ(warning_of_table("", "t"), "");
}

TEST(FigureWarnings, FilesThatAreNoText) {
  expect_contains(kind_of_file("\x1f\x8b\x08"), "gunzip");
  expect_contains(kind_of_file("PK\x03\x04"), "ZIP");
  EXPECT_EQ(kind_of_file("plain text"), "");
  EXPECT_EQ(kind_of_file(""), "");
  const SmallData data;
  expect_contains(kind_of_file(std::string("\x10\0\0\0\0\0\0\0{\"a", 11)), "safetensors");
  write_bytes(data / "book.txt.gz", std::string("\x1f\x8b\x08", 3) + std::string(500, 'x'));
  for (const std::string unit : {"words", "characters"})
    expect_refused(run_lm({"train", "--recipe", data.path("small.toml"), "--data", data.path("book.txt.gz"),
                           "--out", data.path("new"), "--set", "data.unit=" + unit}),
                   "looks like a gzip file; unpack it first, as by: gunzip --keep FILE");
}

TEST(FigureWarnings, AreSaidByTraining) {
  const SmallData data;
  write_bytes(data / "data/valid.txt", SmallData().text(5) + "der hund lief weg und der hund lief weg\n");
  const Result result = run_lm(data.train("run", {"--epochs", "1", "--set", "model.hidden=128"}));
  EXPECT_EQ(result.status, 0);
  expect_contains(result.err, "valid.txt are unknown to the vocabulary");
  expect_contains(result.err, "memorised");
}

}  // namespace
}  // namespace rondo
