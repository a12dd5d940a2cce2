// The parameters of recipes' models: as papers print them, or equal between models that are compared.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lm/program/recipe.h"

namespace rondo {
namespace {

/// The number of a recipe's model of V symbols.
int64_t parameters(const std::string& name, int64_t V, const std::vector<std::string>& texts = {}) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  return LanguageModel(model_options(resolve_recipe(name, settings).language_model()), V, 1, Device::meta)
      .parameter_count();
}

/// An LSTM with two biases a gate.
constexpr int64_t lstm(int64_t input, int64_t units) { return 4 * units * (input + units + 2); }
/// Table of the embedding, tied; the bias of the output; the prior; the latents and their bias.
constexpr int64_t around(int64_t V, int64_t E, int64_t last, int64_t K) {
  return V * E + V + K * last + K * E * (last + 1);
}

TEST(RecipeParameters, AreThoseOfThePapersToTheUnit) {
  // A major LSTM reads the layer before, a minor one the embedding. 1080 = 972 + 108 twice, 620 = 372 + 248.
  constexpr int64_t mmlstm_on_ptb = lstm(280, 972) + lstm(280, 108) + lstm(1080, 972) + lstm(280, 108) +
                                    lstm(1080, 372) + lstm(280, 248) + around(10000, 280, 620, 15);
  // 1200 = 1080 + 120 twice, 650 = 390 + 260.
  constexpr int64_t mmlstm_on_wt2 = lstm(300, 1080) + lstm(300, 120) + lstm(1200, 1080) + lstm(300, 120) +
                                    lstm(1200, 390) + lstm(300, 260) + around(33278, 300, 650, 15);
  const std::tuple<const char*, int64_t, int64_t> rows[] = {
      // Maupome & Meurs, of 41 characters of the Penn Treebank and 29 of text8, as the paper has them.
      {"maupome-ptb-mlstm", 41, 291522},
      {"maupome-ptb-tmlstm", 41, 291375},
      {"maupome-ptb-tmgru", 41, 291706},
      {"maupome-ptb-mgru", 41, 292061},
      {"maupome-ptb-mgru-large", 41, 2105641},
      {"maupome-text8-mlstm", 29, 133170},
      {"maupome-text8-tmlstm", 29, 133314},
      {"maupome-text8-tmgru", 29, 133230},
      {"maupome-text8-mgru", 29, 132997},
      {"maupome-text8-mgru-large", 29, 876629},
      // Zaremba et al., by the authors' code, with two biases a gate; Table 1 prints 66M for the large one.
      {"zaremba-small", 10000, 4653200},
      {"zaremba-medium", 10000, 19780400},
      {"zaremba-large", 10000, 66034000},
      {"trnn-ptb-char", 41, 41 * 83 * 83 + 41 * 83 + 83 + 41 * 83 + 41},
      {"mrnn-ptb-char", 41, 291957},
      // The shallow RNN, of one bias, and the deep ones: a layer adds 200 (200 + 1), a shortcut 200 * 200.
      {"rnn-ptb", 10000, 4090200},
      {"do-rnn-ptb", 10000, 4130400},
      {"dt-rnn-ptb", 10000, 4130400},
      {"dts-rnn-ptb", 10000, 4170400},
      {"dot-rnn-ptb", 10000, 4170600},
      {"dots-rnn-ptb", 10000, 4210600},
      // AWD-LSTM, and its mixture of softmaxes.
      {"awd-lstm-ptb", 10000, 24221600},
      {"awd-lstm-wt2", 33278, 33556078},
      {"awd-lstm-ptb-char", 50, 13787650},
      {"awd-lstm-enwik8", 205, 47270045},
      {"awd-lstm-mos-ptb", 10000, 21500620},
      {"awd-lstm-mos-wt2", 33278, 34909528},
      // "Major-Minor LSTMs for Word-level Language Model", Tables 3 to 6, which print 21.3M, 32.3M, 21.7M,
      // 32.5M, 21.5M, 32.5M, 21.5M, 32.6M, 21.5M and 32.6M.
      {"awd-mmlstm-mos-ptb", 10000, mmlstm_on_ptb},
      {"awd-mmlstm-mos-wt2", 33278, mmlstm_on_wt2},
      {"awd-mmlstm-mos-ptb-minor-on-previous", 10000, 21671212},
      {"awd-mmlstm-mos-wt2-minor-on-previous", 33278, 32476024},
      {"awd-mmlstm-mos-ptb-no-minor-1", 10000, 21482284},
      {"awd-mmlstm-mos-wt2-no-minor-1", 33278, 32547928},
      {"awd-mmlstm-mos-ptb-no-minor-2", 10000, 21508364},
      {"awd-mmlstm-mos-wt2-no-minor-2", 33278, 32628168},
      {"awd-mmlstm-mos-ptb-no-minor-3", 10000, 21536624},
      {"awd-mmlstm-mos-wt2-no-minor-3", 33278, 32592428},
  };
  for (const auto& [name, V, expected] : rows) EXPECT_EQ(parameters(name, V), expected) << name;
}

TEST(RecipeParameters, AreAboutThoseThatPapersPrint) {
  struct Row {
    const char* name;
    int64_t V;
    double millions, tolerance;
    std::vector<std::string> settings{};
  };
  const std::string embedding = "model.embedding=128", slow = "model.slow_units=400";
  const std::vector<std::string> highway = {"model.embedding=830", "model.hidden=830",
                                            "model.recurrence_depth=10"};
  const Row rows[] = {
      // Ours, beside those of Maupome & Meurs.
      {"dt-rnn-ptb-char", 41, 0.292, 0.003},
      {"dts-rnn-ptb-char", 41, 0.292, 0.003},
      {"dot-rnn-ptb-char", 41, 0.292, 0.003},
      {"dots-rnn-ptb-char", 41, 0.292, 0.003},
      // Ours, cells that are compared with each other at one size.
      {"lstm-ptb-char", 50, 0.35, 0.002},
      {"gru-ptb-char", 50, 0.35, 0.002},
      {"mogrifier-lstm-ptb-char", 50, 0.35, 0.002},
      {"mogrifier-gru-ptb-char", 50, 0.35, 0.002},
      {"ln-lstm-ptb-char", 50, 0.35, 0.002},
      {"ln-gru-ptb-char", 50, 0.35, 0.002},
      {"rhn-ptb-char", 50, 0.35, 0.002},
      {"sru-ptb-char", 50, 0.35, 0.002},
      {"qrnn-ptb-char", 50, 0.35, 0.002},
      {"fs-lstm-ptb-char", 50, 0.35, 0.002},
      {"min-gru-ptb-char", 50, 0.35, 0.002},
      {"min-lstm-ptb-char", 50, 0.35, 0.002},
      {"rg-lru-ptb-char", 50, 0.35, 0.002},
      {"slstm-ptb-char", 50, 0.35, 0.002},
      // Ours, small ones that are compared.
      {"awd-lstm-small-ptb", 10000, 2.09, 0.001},
      {"awd-lstm-mos-small-ptb", 10000, 2.09, 0.02},
      {"awd-mmlstm-mos-small-ptb", 10000, 2.09, 0.02},
      // Mujika et al. 2017, table 1: FS-LSTM-2 and FS-LSTM-4.
      {"fs-lstm-ptb-char", 50, 7.2, 0.05, {embedding, slow, "model.hidden=700"}},
      {"fs-lstm-ptb-char", 50, 6.5, 0.05, {embedding, slow, "model.hidden=500", "model.fast_cells=4"}},
      // Zilly et al. 2017, table 1: RHN of depth 10, without and with tied weights.
      {"rhn-ptb-char", 10000, 32, 0.5, highway},
      {"rhn-ptb-char", 10000, 23, 0.5, {highway[0], highway[1], highway[2], "model.tied=true"}},
      // Bradbury et al. 2017, table 2: two layers of 640.
      {"qrnn-ptb-char", 10000, 18, 0.5, {"model.embedding=640", "model.hidden=640"}},
      // Wu et al. 2016; the last one is printed as 17.
      {"mi-text8-mi-rnn", 27, 4, 0.05},
      {"mi-text8-lstm", 27, 4, 0.05},
      {"mi-text8-mi-lstm", 27, 4, 0.05},
      {"mi-hutter-mi-lstm", 205, 18.9, 0.05},
  };
  for (const auto& [name, V, millions, tolerance, settings] : rows)
    EXPECT_NEAR(static_cast<double>(parameters(name, V, settings)) / 1e6, millions, tolerance) << name;
}

// Head, then a projection and the vectors of each cluster: of 200, 50 and 12 numbers.
TEST(RecipeParameters, WithAnAdaptiveSoftmaxHasItsParameters) {
  const int64_t V = 33278, head = (1663 + 2) * 200, first = 200 * 50 + (8319 - 1663) * 50,
                second = 200 * 12 + (V - 8319) * 12;
  EXPECT_EQ(parameters("lstm-adaptive-small-wt2", V) - (head + first + second),
            parameters("zaremba-small", V) - (V * 200 + V));
}

}  // namespace
}  // namespace rondo
