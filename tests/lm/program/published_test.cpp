// Where published figures stand beside measured ones: lm/program/recipe.h.
#include "lm/program/recipe.h"
#include "tests/lm/program/table_test.h"

namespace rondo {
using Words = std::vector<std::string>;

namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

TEST_F(TableTest, PublishedFiguresStandBesideTheModelAndTheTrainingOfTheRecipeAlone) {
  SmallData other;
  int runs = 0;
  const auto table = [&](const Words& settings) {
    const std::string run = other.path(fmt::format("run-{}", runs++));
    Words words{"train",
                "--recipe",
                "zaremba-small",
                "--data",
                other.path("data"),
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
    return run_lm({"table", "--markdown", run});
  };
  expect_contains(table({"--seed", "2", "--set", "train.eval_every=3"}).out, "114.5 perplexity");
  const auto left_out = [&](const Words& settings, const std::string& named) {
    Words words{"--epochs", "1"};
    for (const std::string& it : settings) words.insert(words.end(), {"--set", it});
    const Result changed = table(words);
    EXPECT_EQ(changed.out.find("114.5"), std::string::npos) << named;
    expect_contains(changed.err, "settings are not those of the recipe zaremba-small: " + named);
  };
  left_out({"model.hidden=20"}, "model.hidden, train.epochs\n");
  left_out({"model.dropout=0.1"}, "model.dropout, train.epochs\n");
  left_out({"train.batch=10"}, "train.batch, train.epochs\n");
  left_out({"train.optimizer=adam", "train.learning_rate=0.01"},
           "train.epochs, train.learning_rate, train.optimizer\n");
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
  const auto train = [&](const std::string& name, const Words& settings) {
    Words words{"train",
                "--recipe",
                "zaremba-small",
                "--data",
                other.path("data"),
                "--out",
                other.path(name),
                "--threads",
                "1",
                "--set",
                "published.vocabulary=0",
                "--set",
                "published.test_symbols=0",
                "--set",
                "published.finetuned_test=99"};
    words.insert(words.end(), settings.begin(), settings.end());
    output_of_lm(words);
  };
  const auto stand_beside = [&](const std::string& base, const std::string& name, const Words& settings) {
    Words words{"finetune", other.path(base), "--out", other.path(name), "--threads", "1"};
    words.insert(words.end(), settings.begin(), settings.end());
    output_of_lm(words);
    return output_of_lm({"table", "--markdown", other.path(name)}).find("99 perplexity") != std::string::npos;
  };
  train("base", {});
  EXPECT_TRUE(stand_beside("base", "tuned", {}));
  EXPECT_FALSE(stand_beside("base", "tuned-at-another-rate", {"--set", "finetune.learning_rate=0.5"}));
  train("another-base", {"--epochs", "1"});
  EXPECT_FALSE(stand_beside("another-base", "tuned-from-another-base", {}));
}

}  // namespace
}  // namespace rondo
