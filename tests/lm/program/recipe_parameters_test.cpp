// The parameters of recipes' models: as papers print them, or equal between models that are compared.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lm/program/recipe.h"

namespace rondo {
namespace {

/// Of a recipe's model of V symbols.
int64_t parameters(const std::string& name, int64_t V) {
  return LanguageModel(model_options(load_recipe(name).language_model()), V, 1, Device::meta)
      .parameter_count();
}
double millions(const std::string& name, int64_t V) { return static_cast<double>(parameters(name, V)) / 1e6; }
double millions_with(const std::string& name, int64_t V, const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  const LanguageModel model(model_options(resolve_recipe(name, settings).language_model()), V, 1,
                            Device::meta);
  return static_cast<double>(model.parameter_count()) / 1e6;
}

// Of 41 characters of the Penn Treebank and 29 of text8, as the paper has them.
TEST(RecipeParameters, OfMaupomeAndMeursHaveTheParametersThatArePrinted) {
  EXPECT_EQ(parameters("maupome-ptb-mlstm", 41), 291522);
  EXPECT_EQ(parameters("maupome-ptb-tmlstm", 41), 291375);
  EXPECT_EQ(parameters("maupome-ptb-tmgru", 41), 291706);
  EXPECT_EQ(parameters("maupome-ptb-mgru", 41), 292061);
  EXPECT_EQ(parameters("maupome-ptb-mgru-large", 41), 2105641);
  EXPECT_EQ(parameters("maupome-text8-mlstm", 29), 133170);
  EXPECT_EQ(parameters("maupome-text8-tmlstm", 29), 133314);
  EXPECT_EQ(parameters("maupome-text8-tmgru", 29), 133230);
  EXPECT_EQ(parameters("maupome-text8-mgru", 29), 132997);
  EXPECT_EQ(parameters("maupome-text8-mgru-large", 29), 876629);
}

// Table 1 prints 66M for the large one; all three are those of the authors' code, with two biases a gate.
TEST(RecipeParameters, OfZarembaHaveTheParametersOfTheCode) {
  const auto counted = [](int64_t H) { return 10000 * H + 2 * 4 * (2 * H * H + 2 * H) + 10000 * (H + 1); };
  EXPECT_EQ(parameters("zaremba-small", 10000), 4653200);
  EXPECT_EQ(parameters("zaremba-medium", 10000), 19780400);
  EXPECT_EQ(parameters("zaremba-large", 10000), 66034000);
  for (const auto& [name, H] : {std::pair{"small", 200}, {"medium", 650}, {"large", 1500}})
    EXPECT_EQ(parameters(std::string("zaremba-") + name, 10000), counted(H)) << name;
}

// Beside those of Maupome & Meurs, of 292K: ours.
TEST(RecipeParameters, OnPtbCharactersOfCellsWithoutPublishedSettingsHaveEqualSizes) {
  EXPECT_EQ(parameters("trnn-ptb-char", 41), 41 * 83 * 83 + 41 * 83 + 83 + 41 * 83 + 41);
  EXPECT_EQ(parameters("mrnn-ptb-char", 41), 291957);
  for (const char* name : {"trnn-ptb-char", "mrnn-ptb-char", "dt-rnn-ptb-char", "dts-rnn-ptb-char",
                           "dot-rnn-ptb-char", "dots-rnn-ptb-char"})
    EXPECT_NEAR(static_cast<double>(parameters(name, 41)), 292e3, 3e3) << name;
}

// Cells that are compared with each other at one size.
TEST(RecipeParameters, OnPtbCharactersForComparisonHaveEqualSizes) {
  for (const char* name : {"lstm", "gru", "mogrifier-lstm", "mogrifier-gru", "ln-lstm", "ln-gru", "rhn",
                           "sru", "qrnn", "fs-lstm"})
    EXPECT_NEAR(static_cast<double>(parameters(std::string(name) + "-ptb-char", 50)), 350e3, 2e3) << name;
}

// At the sizes of the papers, on characters (50) and words (10,000) of the Penn Treebank.
TEST(RecipeParameters, OfNewerCellsHaveTheParametersOfTheirPapersAtTheirSizes) {
  const std::vector<std::string> fast_slow = {"model.embedding=128", "model.slow_units=400"};
  const auto with = [](std::vector<std::string> settings, const std::vector<std::string>& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  // Mujika et al. 2017, table 1: FS-LSTM-2 and FS-LSTM-4.
  EXPECT_NEAR(millions_with("fs-lstm-ptb-char", 50, with(fast_slow, {"model.hidden=700"})), 7.2, 0.05);
  EXPECT_NEAR(
      millions_with("fs-lstm-ptb-char", 50, with(fast_slow, {"model.hidden=500", "model.fast_cells=4"})), 6.5,
      0.05);
  // Zilly et al. 2017, table 1: RHN of depth 10, without and with tied weights.
  const std::vector<std::string> highway = {"model.embedding=830", "model.hidden=830",
                                            "model.recurrence_depth=10"};
  EXPECT_NEAR(millions_with("rhn-ptb-char", 10000, highway), 32, 0.5);
  EXPECT_NEAR(millions_with("rhn-ptb-char", 10000, with(highway, {"model.tied=true"})), 23, 0.5);
  // Bradbury et al. 2017, table 2: two layers of 640.
  EXPECT_NEAR(millions_with("qrnn-ptb-char", 10000, {"model.embedding=640", "model.hidden=640"}), 18, 0.5);
}

// By architecture: tests/nn/models/awd_test.cpp.
TEST(RecipeParameters, OfAwdHaveTheirParametersToTheUnit) {
  EXPECT_EQ(parameters("awd-lstm-ptb", 10000), 24221600);
  EXPECT_EQ(parameters("awd-lstm-wt2", 33278), 33556078);
  EXPECT_EQ(parameters("awd-lstm-ptb-char", 50), 13787650);
  EXPECT_EQ(parameters("awd-lstm-enwik8", 205), 47270045);
  EXPECT_EQ(parameters("awd-lstm-mos-ptb", 10000), 21500620);
  EXPECT_EQ(parameters("awd-lstm-mos-wt2", 33278), 34909528);
}

// "Major-Minor LSTMs for Word-level Language Model", Tables 3 to 6: the count by hand, rounded as it is
// printed.
TEST(RecipeParameters, OfMajorMinorHaveTheParametersThatArePrinted) {
  struct Row {
    const char* suffix;
    int64_t ptb, wt2;
    double printed_ptb, printed_wt2;
  };
  for (const auto& [suffix, ptb, wt2, printed_ptb, printed_wt2] :
       {Row{"", 21315276, 32257528, 21.3, 32.3}, Row{"-minor-on-previous", 21671212, 32476024, 21.7, 32.5},
        Row{"-no-minor-1", 21482284, 32547928, 21.5, 32.5},
        Row{"-no-minor-2", 21508364, 32628168, 21.5, 32.6},
        Row{"-no-minor-3", 21536624, 32592428, 21.5, 32.6}}) {
    SCOPED_TRACE(suffix);
    EXPECT_EQ(parameters(std::string("awd-mmlstm-mos-ptb") + suffix, 10000), ptb);
    EXPECT_EQ(parameters(std::string("awd-mmlstm-mos-wt2") + suffix, 33278), wt2);
    EXPECT_NEAR(static_cast<double>(ptb) / 1e6, printed_ptb, 0.05);
    EXPECT_NEAR(static_cast<double>(wt2) / 1e6, printed_wt2, 0.05);
  }
}

TEST(RecipeParameters, OfSmallAwdHaveEqualSizes) {
  const auto of_words = [](const std::string& name) { return millions(name, 10000); };
  const double small = of_words("awd-lstm-small-ptb");
  EXPECT_NEAR(small, 2.09, 0.001);
  EXPECT_NEAR(of_words("awd-lstm-mos-small-ptb"), small, 0.01 * small);
  EXPECT_NEAR(of_words("awd-mmlstm-mos-small-ptb"), small, 0.01 * small);
}

// Head, then a projection and the vectors of each cluster: of 200, 50 and 12 numbers.
TEST(RecipeParameters, WithAnAdaptiveSoftmaxHasItsParameters) {
  const int64_t V = 33278, head = (1663 + 2) * 200, first = 200 * 50 + (8319 - 1663) * 50,
                second = 200 * 12 + (V - 8319) * 12;
  EXPECT_EQ(parameters("lstm-adaptive-small-wt2", V) - (head + first + second),
            parameters("zaremba-small", V) - (V * 200 + V));
}

TEST(RecipeParameters, OfWuEtAlHaveAboutTheParametersThatArePrinted) {
  for (const char* name : {"mi-text8-mi-rnn", "mi-text8-lstm", "mi-text8-mi-lstm"})
    EXPECT_NEAR(millions(name, 27), 4, 0.05) << name;
  EXPECT_NEAR(millions("mi-hutter-mi-lstm", 205), 18.9, 0.05) << "printed 17";
}

}  // namespace
}  // namespace rondo
