// The language model: names, counts and shapes, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "nn/cells/catalogue.h"
#include "nn/cells/join.h"
#include "nn/cells/multiplicative.h"
#include "nn/cells/rnn.h"
#include "tests/nn/models/small_model.h"
#include "tests/nn/parameters.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Names = std::map<std::string, std::string>;

Names names_of(const Module& model) {
  Names names;
  for (const Segment& segment : model.segments()) names[segment.name] = segment.shape.to_string();
  return names;
}

TEST(LanguageModel, NamesAndShapesArePyTorchs) {
  EXPECT_EQ(names_of(LanguageModel(small(), 11)), (Names{{"embedding.weight", "[11, 4]"},
                                                         {"rnn.weight_ih_l0", "[20, 4]"},
                                                         {"rnn.weight_hh_l0", "[20, 5]"},
                                                         {"rnn.bias_ih_l0", "[20]"},
                                                         {"rnn.bias_hh_l0", "[20]"},
                                                         {"rnn.weight_ih_l1", "[24, 5]"},
                                                         {"rnn.weight_hh_l1", "[24, 6]"},
                                                         {"rnn.bias_ih_l1", "[24]"},
                                                         {"rnn.bias_hh_l1", "[24]"},
                                                         {"decoder.weight", "[11, 6]"},
                                                         {"decoder.bias", "[11]"}}));
  for (const auto& [cell, gates] : std::map<std::string, int>{
           {"rnn", 1}, {"lstm", 4}, {"lstm_sigmoid", 4}, {"gru", 3}, {"gru_reset_after", 3}}) {
    const Names names = names_of(LanguageModel(small(cell), 11));
    EXPECT_EQ(names.size(), 11u) << cell;
    EXPECT_EQ(names.at("rnn.weight_hh_l1"), fmt::format("[{}, 6]", 6 * gates)) << cell;
    EXPECT_EQ(names.at("rnn.weight_ih_l0"), fmt::format("[{}, 4]", 5 * gates)) << cell;
    EXPECT_EQ(names.at("rnn.bias_hh_l0"), fmt::format("[{}]", 5 * gates)) << cell;
  }
}

TEST(LanguageModel, CountsItsParameters) {
  const int64_t layers = 20 * (4 + 5 + 2) + 24 * (5 + 6 + 2);
  EXPECT_EQ(LanguageModel(small(), 11).parameter_count(), 44 + layers + 66 + 11);
  LanguageModelOptions options = small();
  options.cell_settings.of<GateBiasSettings>().biases = 1;
  const LanguageModel one_bias(options, 11);
  EXPECT_EQ(one_bias.parameter_count(), 44 + layers - 44 + 66 + 11);
  EXPECT_FALSE(has_parameter(one_bias, "rnn.bias_hh_l0"));
  options.cell_settings.of<GateBiasSettings>().biases = 0;
  const LanguageModel no_bias(options, 11);
  EXPECT_EQ(no_bias.parameter_count(), 44 + layers - 88 + 66 + 11);
  EXPECT_FALSE(has_parameter(no_bias, "rnn.bias_ih_l0"));
  options.cell_settings.of<GateBiasSettings>().biases = 3;
  EXPECT_EQ(any_error_of([&] { LanguageModel(options, 11); }), "biases = 3: expected an integer, 0 to 2");
  options = small();
  options.dropout = 2;
  EXPECT_EQ(any_error_of([&] { LanguageModel(options, 11); }),
            "dropout = 2: expected a number, 0 to below 1");
  EXPECT_EQ(any_error_of([] { Dropout(*std::make_unique<Module>(), "dropout", 2); }),
            "[dropout] the probability is in [0, 1), got 2");
  options = small();
  options.output_layers = {7, 3};
  EXPECT_EQ(LanguageModel(options, 11).parameter_count(), 44 + layers + (42 + 7) + (21 + 3) + 33 + 11);
  // A mixture without an embedding: the prior, then two latents as wide as the last layer.
  options = small();
  options.embedding = 0;
  options.experts = 2;
  EXPECT_EQ(LanguageModel(options, 11).parameter_count(),
            20 * (11 + 5 + 2) + 24 * (5 + 6 + 2) + 2 * 6 + 2 * 6 * (6 + 1) + 66 + 11);
}

TEST(LanguageModel, TiedWeightsAreOneSegmentWithTwoNames) {
  LanguageModelOptions options = small();
  options.hidden = {5, 4};
  options.tied = true;
  const LanguageModel model(options, 11);
  EXPECT_FALSE(has_parameter(model, "decoder.weight"));
  EXPECT_EQ(segment_of(model, "embedding.weight").aliases, std::vector<std::string>{"decoder.weight"});
  EXPECT_EQ(model.parameter_count(), 44 + 20 * (4 + 5 + 2) + 16 * (5 + 4 + 2) + 11);
  for (const Segment& segment : model.segments())
    if (segment.name != "embedding.weight") {
      EXPECT_TRUE(segment.aliases.empty()) << segment.name;
    }
  options.hidden = {5, 6};
  EXPECT_EQ(any_error_of([&] { LanguageModel(options, 11); }),
            "model.tied = true needs model.embedding (4) as wide as the layer before the output (6, from "
            "model.hidden): set model.embedding = 6 or model.tied = false");
}

/// Whether a training has masks, if one rate is 0.1 and those in `zero` are 0.
bool has_masks(const std::string& rate, const std::vector<std::string>& zero = {}) {
  LanguageModelOptions options;
  for (const Key& key : keys_of(options)) {
    if (key.name != rate && std::ranges::find(zero, key.name) == zero.end()) continue;
    const double value = key.name == rate ? 0.1 : 0;
    if (auto* const* member = std::get_if<std::optional<double>*>(&key.member))
      **member = value;
    else
      *std::get<double*>(key.member) = value;
  }
  return masks(options);
}

TEST(LanguageModel, EachRateAloneHasMasks) {
  LanguageModelOptions options;
  EXPECT_FALSE(masks(options));
  for (const Key& key : keys_of(options)) {
    if (!key.training_only || key.name == "variational") continue;  // the others are rates
    EXPECT_TRUE(has_masks(key.name)) << key.name;
  }
  EXPECT_TRUE(has_masks("dropout", {"hidden_dropout", "output_dropout"})) << "of the embedding";
  EXPECT_TRUE(has_masks("dropout", {"input_dropout", "output_dropout"})) << "between layers";
  EXPECT_TRUE(has_masks("dropout", {"input_dropout", "hidden_dropout"})) << "before the output";
  EXPECT_FALSE(has_masks("dropout", {"input_dropout", "hidden_dropout", "output_dropout"}));
}

TEST(LanguageModel, RefusesWhatItCannotBe) {
  EXPECT_TRUE(
      any_error_of([] {
        LanguageModel(small("lstn"), 11);
      }).starts_with("there is no cell 'lstn'; the cells are rnn, linear_rnn, lstm, lstm_sigmoid, gru,"));
  EXPECT_THROW(LanguageModel(small("lstn"), 11), InputError);
  LanguageModelOptions options = small();
  options.hidden = {};
  EXPECT_THROW(LanguageModel(options, 11), InputError);
  options = small();
  options.major_ratio = {};
  EXPECT_EQ(any_error_of([&] { LanguageModel(options, 11); }),
            "model.major_ratio has 0 shares for 2 layers: give one for each, or one for all");
}

struct ClashingSettings {
  int64_t window = 1;
};
Keys keys_of(ClashingSettings& it) { return {{"window", &it.window}}; }

struct Clashing : Rnn<> {
  using Settings = SettingsOf<ClashingSettings>;
  using Rnn<>::Rnn;
};

TEST(AddCell, MakesACellKnownOnce) {
  struct Mine : Rnn<> {
    using Rnn<>::Rnn;
    State step(StepInputs& x, const State& previous) override {  // that of Rnn writes h where it stays
      return {tanh(join(x, W, previous.h, U, 0, hidden())) + real(7)};
    }
  };
  const std::vector<std::string> before = cell_names();
  EXPECT_EQ(any_error_of([] { add_cell<Mine>("lstm"); }), "[add_cell] 'lstm' is known already");
  EXPECT_EQ(cell_names(), before);
  add_cell<Mine>("mine");
  EXPECT_EQ(cell_names().back(), "mine");
  EXPECT_THROW(add_cell<Mine>("mine"), Error);
  EXPECT_EQ(any_error_of([] { add_cell<Clashing>("clashing"); }),
            "[add_cell] the key 'window' of 'clashing' is another cell's");
  LanguageModel model(small("mine"), 11);
  const auto result = model.forward({tokens({1, 2}), 2, 1}, model.initial_states(1));
  for (const real y : result.output.features.value().to_vector()) EXPECT_NEAR(y, 7, 1) << "the step of Mine";
}

}  // namespace
}  // namespace rondo
