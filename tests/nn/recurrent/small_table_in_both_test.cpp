// A layer whose input consists of rows of a small table multiplies the table in their place.
#include <gtest/gtest.h>

#include <algorithm>

#include "autograd/operators/functions.h"
#include "nn/recurrent/recurrent_stack.h"
#include "tensor/profile.h"

namespace rondo::small_table_test {
namespace {

constexpr int64_t T = 5, B = 4, E = 4, V = 3;
const Tokens ids = tokens({2, 0, 1, 2, 2, 0, 0, 1, 1, 2, 0, 0, 2, 1, 0, 1, 1, 2, 2, 0});

struct Model : Module {
  Model() { finalize(3); }
  /// The output and all gradients.
  std::vector<std::vector<real>> run(bool by_table, const Lengths& lengths) {
    fill(gradients(), 0);
    const Variable x = reshape(embedding(table, ids), {T, B, E});
    const auto result = stack(by_table ? LayerInput(x, table, ids) : x, stack.initial_states(B), lengths);
    const std::vector<real> output = result.output.value().to_vector();
    sum(square(result.output)).backward();
    return {output, gradients().to_vector()};
  }

  Parameter table{*this, "table", {V, E}, uniform_values(1)};
  RecurrentStack stack{*this, "rnn", {.cell = "lstm", .layers = {pytorch_cell(E, 3)}, .bidirectional = true}};
};

TEST(LayerInput, OfASmallTableGivesWhatItsRowsGive) {
  Model model;
  for (const Lengths& lengths : {Lengths{}, Lengths{5, 0, 3, 1}}) {
    const auto expected = model.run(false, lengths), found = model.run(true, lengths);
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(found[i].size(), expected[i].size());
      for (size_t j = 0; j < found[i].size(); ++j)
        ASSERT_NEAR(found[i][j], expected[i][j], sizeof(real) == 4 ? 1e-5 : 1e-13) << i << " " << j;
    }
  }
}

TEST(LayerInput, KeepsATableThatIsAtMostHalfAsHigh) {
  Model model;
  const auto multiplies_table = [&](bool by_table) {
    set_profiling(true);
    model.run(by_table, {});
    const std::vector<ProfileEntry> entries = profile();
    set_profiling(false);
    return std::ranges::any_of(entries, [](const ProfileEntry& it) { return it.name.starts_with("3x12x4"); });
  };
  EXPECT_TRUE(multiplies_table(true));
  EXPECT_FALSE(multiplies_table(false));
  const auto keeps = [&](std::vector<int32_t> rows) {
    const Tokens some = tokens(std::move(rows));
    return LayerInput(embedding(model.table, some), model.table, some).table.defined();
  };
  EXPECT_TRUE(keeps({0, 1, 0, 1, 0, 1}));
  EXPECT_FALSE(keeps({0, 1, 0, 1, 0}));
}

}  // namespace
}  // namespace rondo::small_table_test
