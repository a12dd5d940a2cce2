// Encoder-decoders that share parts: what they share, what they compute, and the gradients of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "autograd/functions.h"
#include "nn/models/encoder_decoder.h"
#include "tests/nn/parameters.h"
#include "tests/nn/settings.h"

namespace rondo {
namespace {

const std::map<std::string, int64_t> vocabularies = {{"de", 7}, {"en", 6}};
/// Translation, an auto-encoder, a language model, and an auto-encoder of the source: all forms at once.
const std::vector<Route> routes = {{"de", "en"}, {"en", "en"}, {"", "en"}, {"de", "de"}};

EncoderDecoderOptions small_options(Score attention) {
  EncoderDecoderOptions options;
  set(options, "cell=gru embedding=3 hidden=4 readout=3 tied=output");
  options.attention = attention;
  options.input_feeding = attention == Score::additive;
  return options;
}

/// The loss of two pairs of sentences; ids below 6 are symbols of both languages.
Variable loss_of(EncoderDecoder& model, const std::vector<int32_t>& source = {1, 2, 3, 0, 5, 4}) {
  const auto encoded = model.encode({tokens(source), 3, 2, {3, 2}});
  const auto output = model.decode({tokens({0, 0, 2, 4, 3, 1}), 3, 2}, encoded);
  return model.cross_entropy(output.readout, tokens({2, 4, 3, 1, 0, -1})).total;
}

std::vector<std::string> names_of(const Module& model) {
  std::vector<std::string> names;
  for (const Segment& segment : model.segments()) names.push_back(segment.name);
  return names;
}

TEST(SharedEncoderDecoders, HaveOneEncoderAndOneDecoderOfALanguage) {
  SharedEncoderDecoders model(small_options(Score::general), vocabularies, routes, 1, Device::meta);
  for (const char* name :
       {"de.source_embedding.weight", "de.encoder.weight_ih_l0_reverse", "de.target_embedding.weight",
        "de.decoder.weight_hh_l0", "en.encoder.weight_ih_l0", "en.target_embedding.weight", "en.W_c",
        "en.attention.W_a", "en.bridge.h_l0.weight", "en.output.bias"})
    EXPECT_TRUE(has_parameter(model, name)) << name;
  SharedEncoderDecoders one_way(small_options(Score::general), vocabularies, {routes[0]}, 1, Device::meta);
  SharedEncoderDecoders many_to_one(small_options(Score::general), vocabularies, {routes[0], routes[2]}, 1,
                                    Device::meta);
  EXPECT_EQ(names_of(many_to_one), names_of(one_way)) << "a language model has nothing of its own";
  EXPECT_EQ(model.parameter_count(),
            EncoderDecoder(small_options(Score::general), 7, 6, 1, Device::meta).parameter_count() +
                EncoderDecoder(small_options(Score::general), 6, 7, 1, Device::meta).parameter_count());
  EncoderDecoderOptions tied = small_options(Score::general);
  tied.tied = TiedTables::all;
  EXPECT_THROW(SharedEncoderDecoders(tied, vocabularies, routes), InputError);
}

class SharedParts : public testing::TestWithParam<Score> {};

TEST_P(SharedParts, ComputeWhatAModelOfItsOwnComputes) {
  SharedEncoderDecoders shared(small_options(GetParam()), vocabularies, routes);
  EncoderDecoder own(small_options(GetParam()), 7, 6, 2);
  for (const Segment& segment : own.segments()) {
    const bool reads = segment.name.starts_with("source_") || segment.name.starts_with("encoder.");
    const std::string name = (reads ? "de." : "en.") + segment.name;
    ASSERT_TRUE(has_parameter(shared, name)) << name;
    copy(value_of(shared, name), part_of(own.values(), segment));
  }
  EXPECT_EQ(loss_of(shared.at(0)).value().to_vector(), loss_of(own).value().to_vector());
  EXPECT_NE(loss_of(shared.at(0)).value().to_vector(), loss_of(shared.at(1)).value().to_vector());
}

TEST_P(SharedParts, AreALanguageModelWithoutASource) {
  SharedEncoderDecoders model(small_options(GetParam()), vocabularies, routes);
  const auto nats = loss_of(model.at(2)).value().to_vector();
  EXPECT_EQ(loss_of(model.at(2), {4, 4, 4, 4, 4, 4}).value().to_vector(), nats);
  EXPECT_NE(loss_of(model.at(1), {4, 4, 4, 4, 4, 4}).value().to_vector(),
            loss_of(model.at(1)).value().to_vector());
}

// One buffer of gradients for all tasks: each task adds to the gradients of what it uses, and of nothing
// else.
TEST_P(SharedParts, GetTheSumOfTheGradientsOfAllTasks) {
  SharedEncoderDecoders model(small_options(GetParam()), vocabularies, routes);
  const auto zero = [&] { fill(model.gradients(), 0); };
  std::vector<real> sum(static_cast<size_t>(model.gradients().size()));
  std::map<std::string, std::vector<size_t>> tasks_of;  // those that give a parameter a gradient
  for (size_t i = 0; i < routes.size(); ++i) {
    zero();
    loss_of(model.at(i)).backward();
    const std::vector<real> alone = model.gradients().to_vector();
    for (size_t j = 0; j < sum.size(); ++j) sum[j] += alone[j];
    for (const Segment& segment : model.segments()) {
      const std::vector<real> part = part_of(model.gradients(), segment).to_vector();
      if (std::ranges::any_of(part, [](real it) { return it != 0; })) tasks_of[segment.name].push_back(i);
    }
  }
  zero();
  for (size_t i = 0; i < routes.size(); ++i) loss_of(model.at(i)).backward();
  const std::vector<real> together = model.gradients().to_vector();
  for (size_t j = 0; j < sum.size(); ++j) EXPECT_NEAR(together[j], sum[j], 1e-12) << j;

  using Tasks = std::vector<size_t>;
  EXPECT_EQ(tasks_of["de.encoder.weight_ih_l0"], (Tasks{0, 3}));
  EXPECT_EQ(tasks_of["de.source_embedding.weight"], (Tasks{0, 3}));
  EXPECT_EQ(tasks_of["en.encoder.weight_ih_l0"], Tasks{1});
  EXPECT_EQ(tasks_of["en.decoder.weight_ih_l0"], (Tasks{0, 1, 2}));
  EXPECT_EQ(tasks_of["en.target_embedding.weight"], (Tasks{0, 1, 2}));
  EXPECT_EQ(tasks_of["en.W_c"], (Tasks{0, 1, 2}));
  EXPECT_EQ(tasks_of["en.bridge.h_l0.weight"], (Tasks{0, 1}));
  EXPECT_EQ(tasks_of["de.decoder.weight_ih_l0"], Tasks{3});
}

INSTANTIATE_TEST_SUITE_P(Attentions, SharedParts,
                         testing::Values(Score::none, Score::general, Score::additive));

}  // namespace
}  // namespace rondo
