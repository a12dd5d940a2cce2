// Where published figures stand beside measured ones: lm/program/recipe.h.
#include "lm/program/recipe.h"
#include "tests/lm/program/table_test.h"

namespace rondo {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

/// Trains the recipe zaremba-small, whose published figures are to be those of this text.
void train_zaremba(const SmallData& data, const std::string& run, const Words& settings) {
  Words words{"train",
              "--recipe",
              "zaremba-small",
              "--data",
              data.path("data"),
              "--out",
              run,
              "--threads",
              "1",
              "--set",
              "published.vocabulary=0",
              "--set",
              "published.test_symbols=0"};
  words.insert(words.end(), settings.begin(), settings.end());
  output_of_lm(words);
}

TEST_F(TableTest, PublishedFiguresStandBesideTheModelAndTheTrainingOfTheRecipeAlone) {
  SmallData other;
  int runs = 0;
  const auto table = [&](const Words& settings) {
    const std::string run = other.path(fmt::format("run-{}", runs++));
    train_zaremba(other, run, settings);
    return run_lm({"table", "--markdown", run});
  };
  expect_contains(table({"--seed", "2", "--set", "train.eval_every=3"}).out, "114.5 perplexity");
  for (const auto& [setting, named] : {std::pair("model.dropout=0.1", "model.dropout, train.epochs\n"),
                                       {"train.batch=10", "train.batch, train.epochs\n"}}) {
    const Result changed = table({"--epochs", "1", "--set", setting});
    EXPECT_EQ(changed.out.find("114.5"), std::string::npos) << named;
    expect_contains(changed.err, std::string("settings are not those of the recipe zaremba-small: ") + named);
  }
}

TEST_F(TableTest, PublishedFiguresStandBesideTheSameTextAndKindAlone) {
  SmallData other;
  other.trained("base",
                {"--epochs", "1", "--set", "published.cache_test=3", "--set", "published.finetuned_test=4",
                 "--set", "published.test=4.25", "--set", "published.unit=bits"});
  const std::string config = bytes_of_file(other / "base/config.toml");
  const auto published_beside = [&](const std::string& key, const std::string& number) {
    std::string changed = config;
    const std::string line = "\n" + key + " = ";
    changed.replace(changed.find(line + "0"), line.size() + 1, line + number);
    write_bytes(other / "base/config.toml", changed);
    const Result outcome = run_lm({"table", "--markdown", other.path("base")});
    write_bytes(other / "base/config.toml", config);
    const bool beside = outcome.out.find("4.25 bits") != std::string::npos;
    EXPECT_EQ(outcome.err.find("are left out") != std::string::npos, !beside);
    return beside;
  };
  EXPECT_TRUE(published_beside("test_symbols", "0")) << "not known";
  EXPECT_TRUE(published_beside("test_symbols", "160"));
  EXPECT_FALSE(published_beside("test_symbols", "170"));
  EXPECT_FALSE(published_beside("vocabulary", "41"));
  output_of_lm({"finetune", other.path("base"), "--out", other.path("finetuned"), "--set",
                "finetune.learning_rate=0.1", "--epochs", "1"});
  const auto rows =
      cells_of(output_of_lm({"table", "--markdown", other.path("base"), other.path("finetuned")}));
  EXPECT_EQ(rows[2][2], "4.25 bits");
  EXPECT_EQ(rows[3][2], "4 bits");
}

TEST_F(TableTest, PublishedFiguresOfFinetuningAreThoseOfTheRecipesBase) {
  SmallData other;
  const auto table = [&](const std::string& name, const Words& of_training, const Words& of_finetuning) {
    Words settings{"--set", "published.finetuned_test=99"};
    settings.insert(settings.end(), of_training.begin(), of_training.end());
    train_zaremba(other, other.path(name), settings);
    Words finetune{"finetune", other.path(name), "--out", other.path(name + "-tuned"), "--threads", "1"};
    finetune.insert(finetune.end(), of_finetuning.begin(), of_finetuning.end());
    output_of_lm(finetune);
    return output_of_lm({"table", "--markdown", other.path(name + "-tuned")});
  };
  expect_contains(table("same", {}, {}), "99 perplexity");
  EXPECT_EQ(table("other-base", {"--epochs", "1"}, {}).find("99 perplexity"), std::string::npos);
  EXPECT_EQ(table("other-rate", {}, {"--set", "finetune.learning_rate=0.5"}).find("99 perplexity"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo
