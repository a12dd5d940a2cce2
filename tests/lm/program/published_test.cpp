// Where published figures stand beside measured ones: lm/program/recipe.h.
#include "lm/program/recipe.h"
#include "tests/lm/program/table_test.h"

namespace rondo {
namespace {

using Words = std::vector<std::string>;

TEST(Published, OfARecipeAreOfItsModelAndItsTraining) {
  const auto changed = [](bool finetuned, const Words& texts) {
    std::vector<Setting> settings;
    for (const std::string& text : texts) settings.push_back(parse_setting(text));
    return changed_keys(resolve_recipe("zaremba-small", settings), finetuned);
  };
  EXPECT_EQ(changed(false, {"train.seed=2", "train.eval_every=3", "train.micro_batch=10"}), Words{});
  EXPECT_EQ(changed(false, {"model.dropout=0.1", "train.epochs=1"}),
            (Words{"model.dropout", "train.epochs"}));
  EXPECT_EQ(changed(false, {"train.optimizer=adam", "train.learning_rate=0.01"}),
            (Words{"train.optimizer", "train.learning_rate"}));
  EXPECT_EQ(changed(false, {"finetune.learning_rate=0.5"}), Words{});
  EXPECT_EQ(changed(true, {"finetune.learning_rate=0.5"}), Words{"finetune.learning_rate"});
  EXPECT_EQ(changed(true, {"train.optimizer=adam", "train.learning_rate=0.01"}), Words{});
}

TEST_F(TableTest, PublishedFiguresStandBesideTheRecipeAlone) {
  SmallData other;
  const auto table = [&](const std::string& name, const Words& settings) {
    const std::string run = other.path(name), tuned = run + "-tuned";
    Words words = other.train(name, {"--set", "published.vocabulary=0", "--set", "published.test_symbols=0",
                                     "--set", "published.finetuned_test=99"});
    words[2] = "zaremba-small";
    words.insert(words.end(), settings.begin(), settings.end());
    output_of_lm(words);
    output_of_lm({"finetune", run, "--out", tuned, "--threads", "1"});
    return std::pair(run_lm({"table", "--markdown", run}), output_of_lm({"table", "--markdown", tuned}));
  };
  const auto [same, same_tuned] = table("same", {"--seed", "2", "--set", "train.eval_every=3"});
  expect_contains(same.out, "114.5 perplexity");
  expect_contains(same_tuned, "99 perplexity");
  const auto [changed, changed_tuned] = table("changed", {"--epochs", "1", "--set", "model.hidden=20"});
  EXPECT_EQ(changed.out.find("114.5"), std::string::npos);
  expect_contains(changed.err,
                  "settings are not those of the recipe zaremba-small: model.hidden, train.epochs\n");
  EXPECT_EQ(changed_tuned.find("99 perplexity"), std::string::npos) << "finetuned from another base";
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

}  // namespace
}  // namespace rondo
