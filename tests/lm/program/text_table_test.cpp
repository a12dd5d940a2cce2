// Tables of texts: their parts, and what a short one leaves out.
#include "lm/report/text_table.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

TextColumn column(const std::string& name, const std::vector<std::string>& cells,
                  ColumnShown shown = ColumnShown::always) {
  TextColumn it{.name = name, .shown = shown};
  for (const std::string& cell : cells) it.cells.emplace_back(cell);
  return it;
}

TEST(TextTables, ColumnsThatDoNotFitFollowBelow) {
  const TextTable table{column("run", {"a", "b"}), column("test bits", {"1.25", "1.5"}),
                        column("valid bits", {"1.75", "2"})};
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

TEST(TextTables, AShortOneSaysOnceWhatAllRowsShareAndNamesWhatItLacks) {
  const TextTable table{column("run", {"a", "b"}),
                        column("bits", {"1", "1"}),
                        column("nats", {"2", "3"}, ColumnShown::as_a_detail),
                        column("symbols", {"9", "9"}, ColumnShown::as_a_detail),
                        column("text", {"x", "y"}, ColumnShown::if_it_differs),
                        column("parameters", {"7", "7"}, ColumnShown::if_it_differs)};
  EXPECT_EQ(short_text_of(table, "ask", 80),
            "in all rows: symbols: 9; parameters: 7\n"
            "\n"
            "\n"
            "run  bits  text\n"
            "  a     1     x\n"
            "  b     1     y\n"
            "\n"
            "left out: nats; ask\n");
}

TEST(TextTables, CsvHasANumberAFieldAndDeviationsInColumnsOfTheirOwn) {
  TextTable table{column("run", {"a, \"b\"", "c"}), column("bits", {"1.50 ± 0.50 (2)", "several settings"}),
                  column("n", {"3", dash})};
  table[0].is_text = true;
  table[1].cells[0].number = mean_of({1, 2}, 3);
  EXPECT_EQ(csv_of(table),
            "run,bits,bits deviation,bits n,n\n"
            "\"a, \"\"b\"\"\",1.5,0.7071067811865476,2,3\n"
            "c,,,0,\n");
  sort_rows(table, "n");
  EXPECT_EQ(table[0].cells[0].text, "a, \"b\"") << "dashes last";
}

}  // namespace
}  // namespace rondo
