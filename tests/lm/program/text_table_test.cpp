// Tables of texts: their parts, what they say once, and as comma-separated values.
#include "lm/report/text_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/temporary_folder.h"

namespace rondo {
namespace {

TEST(TextTables, ColumnsThatDoNotFitFollowBelow) {
  const TextTable table{{{"run"}, {"test bits"}, {"valid bits"}},
                        {{{"a"}, {"1.25"}, {"1.75"}}, {{"b"}, {"1.5"}, {"2"}}}};
  const std::string whole =
      "     test  valid\n"
      "run  bits   bits\n"
      "  a  1.25   1.75\n"
      "  b   1.5      2\n";
  EXPECT_EQ(text_of(table, 16), whole);
  const std::string parts =
      "     test\n"
      "run  bits\n"
      "  a  1.25\n"
      "  b   1.5\n"
      "\n"
      "     valid\n"
      "run   bits\n"
      "  a   1.75\n"
      "  b      2\n";
  EXPECT_EQ(text_of(table, 15), parts);
  EXPECT_EQ(text_of(table, 1), parts) << "a column is never cut";
}

TEST(TextTables, SayOnceWhatAllRowsShare) {
  const TextTable table{{{"run"}, {"symbols"}, {"bits"}, {"parameters"}},
                        {{{"a"}, {"9"}, {"1"}, {"7"}}, {{"b"}, {"9"}, {"2"}, {"7"}}}};
  EXPECT_EQ(text_of(table, 80),
            "in all rows: symbols: 9; parameters: 7\n"
            "\n"
            "\n"
            "run  bits\n"
            "  a     1\n"
            "  b     2\n");
}

TEST(TextTables, CsvHasANumberAFieldAndDeviationsInColumnsOfTheirOwn) {
  const TextTable table{
      {{"run", true}, {"bits"}, {"n"}},
      {{{"a, \"b\""}, {"1.50 ± 0.50 (2)", mean_of({1, 2})}, {"3"}}, {{"c"}, {dash}, {dash}}}};
  EXPECT_EQ(csv_of(table),
            "run,bits,bits deviation,bits n,n\n"
            "\"a, \"\"b\"\"\",1.5,0.7071067811865476,2,3\n"
            "c,,,,\n");
  EXPECT_EQ(
      nlohmann::ordered_json::parse(json_text_of(table)).at("rows"),
      nlohmann::ordered_json::parse(
          R"([{"run": "a, \"b\"", "bits": {"mean": 1.5, "deviation": 0.7071067811865476, "n": 2}, "n": 3},
                    {"run": "c", "bits": null, "n": null}])"));
}

// Escapes of CommonMark 0.31 (2.4, 6.1) and of tables on GitHub (GFM 4.10); quotes of RFC 4180, and the cells
// that a spreadsheet computes, by OWASP's list.
TEST(TextTables, NamesDoNotLeaveTheirCells) {
  const TextTable table{{{"run", true}, {"a|b", true}, {"rate"}, {"low", true}},
                        {{{"x`y|\n<b>"}, {"=1+1"}, {"-1.5"}, {"-2"}}, {{"a|b"}, {"@a"}, {dash}, {"-x\xff"}}}};
  EXPECT_EQ(markdown_of(table),
            "| run | a\\|b | rate | low |\n|---|---|---:|---|\n"
            "| x\\`y\\|\\\\x0a\\<b> | =1+1 | -1.5 | -2 |\n| `a\\|b` | @a | - | -x\\\\xff |\n");
  EXPECT_EQ(csv_of(table), "run,a|b,rate,low\n\"x`y|\n<b>\",'=1+1,-1.5,-2\na|b,'@a,,'-x\ufffd\n");
  const TextTable words{{{"word", true, true}, {"mean & rate"}},
                        {{{dash}, {"1 ± 0.5"}}, {{"=1"}, {dash}}, {{"50%_{a}\\~<|>"}, {"2"}}}};
  EXPECT_EQ(csv_of(words), "word,mean & rate\n-,1 ± 0.5\n=1,\n50%_{a}\\~<|>,2\n") << "verbatim";
  EXPECT_EQ(latex_of(words),
            "\\begin{tabular}{lr}\nword & mean \\& rate \\\\\n\\hline\n- & 1 ± 0.5 \\\\\n"
            "=1 & - \\\\\n50\\%\\_\\{a\\}\\textbackslash{}\\~{}\\textless{}\\textbar{}\\textgreater{} & 2 "
            "\\\\\n\\end{tabular}\n");
  expect_contains(text_of(table), "\nx`y|\\x0a<b>  =1+1");
}

}  // namespace
}  // namespace rondo
