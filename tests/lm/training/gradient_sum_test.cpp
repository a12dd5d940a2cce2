// Gradients are added up piece by piece, each once it is complete.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "lm/training/ranks.h"

namespace rondo {
namespace {

using Pieces = std::vector<std::pair<int64_t, int64_t>>;  // the place and the size of each

/// Two ranks, of which the other has the same gradients.
class TwinRanks : public Ranks {
 public:
  explicit TwinRanks(const Tensor& gradients) : Ranks(2, 0), first_(gradients.data()) {}
  void add_up(std::span<float> numbers) override { add(numbers); }
  void add_up(std::span<double> numbers) override { add(numbers); }
  void send(std::span<std::byte>) override {}
  Pieces take_pieces() { return std::exchange(pieces_, {}); }

 private:
  template <class Number>
  void add(std::span<Number> numbers) {
    pieces_.emplace_back(reinterpret_cast<const real*>(numbers.data()) - first_, std::ssize(numbers));
    for (Number& it : numbers) it *= 2;
  }

  const real* first_;
  Pieces pieces_;
};

/// Parameters of 10, 32, 100 and 20 numbers, which begin at multiples of 16: at 0, 16, 48 and 160.
struct FourParameters : Module {
  FourParameters() { finalize(1); }
  Parameter a{*this, "a", {10}, {}}, b{*this, "b", {2, 16}, {}}, c{*this, "c", {100}, {}},
      d{*this, "d", {20}, {}};
};

TEST(GradientSum, BeginsPiecesThatAreComplete) {
  const FourParameters model;
  const Tensor& all = model.gradients();
  std::vector<int64_t> at;
  for (const Segment& it : model.segments()) at.push_back(it.offset);
  const int64_t end = all.size();
  const Pieces first = {{at[2], end - at[2]}}, second = {{0, at[2]}};
  Pieces both = first;
  both.insert(both.end(), second.begin(), second.end());
  TwinRanks ranks(all);
  GradientSum sum(model, ranks, 40);
  const auto complete = [&](size_t i) {
    sum.completed(part_of(all, model.segments()[i]));
    return ranks.take_pieces();
  };
  for (int update = 0; update < 2; ++update) {
    fill(all, 3);
    sum.begin();
    EXPECT_EQ(complete(3), Pieces()) << "d lies in a piece with c";
    EXPECT_EQ(complete(2), first);
    EXPECT_EQ(complete(1), Pieces());
    sum.finish();
    EXPECT_EQ(ranks.take_pieces(), second) << "the loss does not depend on a";
    EXPECT_EQ(all.to_vector(), std::vector<real>(static_cast<size_t>(end), 6)) << "each number once";
  }
  // All ranks begin in one order, whatever is complete first.
  sum.begin();
  for (const size_t i : {0u, 1u, 2u}) EXPECT_EQ(complete(i), Pieces()) << i;
  EXPECT_EQ(complete(3), both);
  sum.finish();
  EXPECT_EQ(ranks.take_pieces(), Pieces());
  // A rank without a share of the batch has no backward.
  sum.begin();
  sum.finish();
  EXPECT_EQ(ranks.take_pieces(), both);
}

}  // namespace
}  // namespace rondo
