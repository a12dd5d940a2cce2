#include <gtest/gtest.h>

#include <ctime>

#include "lm/program/cli.h"

namespace rondo {
namespace {

TEST(Nearest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("trian", "train"), 1u);  // neighbours swapped
  EXPECT_EQ(edit_distance("train", "train"), 0u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);  // restricted form: no edit inside a swap
}

TEST(Nearest, NamesTheNearest) {
  const std::vector<std::string> known = {"model.hidden", "model.dropout", "train.batch"};
  EXPECT_EQ(nearest("model.hiden", known), "model.hidden");
  EXPECT_EQ(nearest("dropout", known), "model.dropout");
  EXPECT_EQ(nearest("model.batch", known), "train.batch");
  EXPECT_EQ(nearest("zzzzzz", known), "");
}

TEST(Nearest, NamesNothingThatIsFar) {
  EXPECT_EQ(nearest("--lr", {"--help", "--recipe"}), "");
  EXPECT_EQ(nearest("sample", {"table", "train"}), "");
  EXPECT_EQ(nearest("train.lr", {"train.loss", "train.clip"}), "");
  EXPECT_EQ(nearest("train.learnin_rate", {"train.learning_rate"}), "train.learning_rate");
  EXPECT_EQ(nearest("--temp", {"--help", "--temperature"}), "--temperature") << "it begins so";
}

TEST(Nearest, WhatIsVeryLongIsNotCompared) {
  const std::vector<std::string> known(100, "train.learning_rate");
  const std::clock_t start = std::clock();
  EXPECT_EQ(nearest(std::string(8 << 20, 'x'), known), "");
  EXPECT_EQ(nearest(std::string(8 << 20, '.') + "learning_rat", known), "train.learning_rate");
  EXPECT_EQ(nearest("train." + std::string(8 << 20, 'x'), known), "");
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC) << "minutes if they were compared";
}

TEST(Nearest, EndOfAnErrorText) {
  EXPECT_EQ(did_you_mean("lstn", {"lstm", "gru"}), "; did you mean 'lstm'?");
  EXPECT_EQ(did_you_mean("convolution", {"lstm", "gru"}), "; known: lstm, gru");
  EXPECT_EQ(did_you_mean("--batch-size", {"--streams", "train.batch"}), "; here it is 'train.batch'");
  EXPECT_EQ(did_you_mean("--batch-size", {"--streams"}), "; here it is '--streams'");
  EXPECT_EQ(did_you_mean("--gpu", {"--device"}), "; here it is '--device cuda'");
  EXPECT_EQ(did_you_mean("dynamic.lr", {"train.learning_rate", "dynamic.learning_rate"}),
            "; here it is 'dynamic.learning_rate'");
}

}  // namespace
}  // namespace rondo
