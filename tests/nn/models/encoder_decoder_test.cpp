// What an encoder-decoder is built of, and which options contradict each other. Its values:
// encoder_decoder_in_double_test.cpp.
#include "nn/models/encoder_decoder.h"

#include <gtest/gtest.h>

#include "tests/nn/parameters.h"
#include "tests/nn/settings.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

/// The InputError of default options that these settings change.
std::string refusal(const std::string& settings) {
  EncoderDecoderOptions options;
  set(options, settings);
  return refusal_of([&] { check_options(options); });
}

TEST(EncoderDecoderOptions, ThatContradictEachOtherAreRefused) {
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal("hidden=7"),
            "model.hidden = 7: a bidirectional layer has half of it in each direction; give an even number");
  EXPECT_EQ(refusal("hidden=7 bidirectional=false"), "");
  EXPECT_EQ(refusal("attention=none input_feeding=true"),
            "model.input_feeding feeds back what attention has read: set model.attention, or leave it out");
  for (const std::string tied : {"tied=output", "tied=all"}) {
    EXPECT_EQ(refusal(tied),
              "model.tied needs a readout as wide as the embedding: --set model.readout=256, or --set "
              "model.tied=none");
    EXPECT_EQ(refusal(tied + " readout=256"), "");
  }
}

TEST(EncoderDecoderOptions, OutOfRangeOrUnknownAreRefused) {
  for (const std::string wrong : {"cell=lstn", "embedding=0", "hidden=0", "encoder_layers=0",
                                  "decoder_layers=0", "readout=-1", "dropout=1", "init_all=-0.1"})
    EXPECT_NE(refusal(wrong).find(wrong.substr(0, wrong.find('='))), std::string::npos)
        << wrong << ": " << refusal(wrong);
  EXPECT_NE(refusal("cell=gru zoneout_memory=0.1"), "") << "a GRU has no cell state";
}

TEST(EncoderDecoder, RefusesOneTableForTwoVocabulariesOfDifferentSizes) {
  EncoderDecoderOptions options;
  set(options, "embedding=4 readout=4 hidden=4 tied=all");
  EXPECT_EQ(any_error_of([&] { EncoderDecoder(options, 7, 9); }),
            "model.tied = \"all\" needs one vocabulary for both sides, and these have 7 and 9 symbols: set "
            "data.shared_vocabulary = true");
  EXPECT_NO_THROW(EncoderDecoder(options, 9, 9));
}

TEST(EncoderDecoder, HasTheTablesThatItsOptionsName) {
  EncoderDecoderOptions options;
  set(options, "embedding=4 readout=4 hidden=6");
  for (const auto& [tied, source, output] : {std::tuple(TiedTables::none, true, true),
                                             {TiedTables::output, true, false},
                                             {TiedTables::all, false, false}}) {
    options.tied = tied;
    const EncoderDecoder model(options, 9, 9);
    EXPECT_EQ(has_parameter(model, "source_embedding.weight"), source);
    EXPECT_EQ(has_parameter(model, "output.weight"), output);
    EXPECT_TRUE(has_parameter(model, "target_embedding.weight"));
    EXPECT_EQ(model.target_vocabulary(), 9);
  }
}

TEST(EncoderDecoder, HasABridgeForEachPartOfEachState) {
  EncoderDecoderOptions options;
  set(options, "embedding=4 hidden=4 decoder_layers=2");
  const EncoderDecoder lstm(options, 5, 7);
  EXPECT_TRUE(has_parameter(lstm, "bridge.h_l1.weight") && has_parameter(lstm, "bridge.c_l1.weight"));
  options.cell = "gru";
  const EncoderDecoder gru(options, 5, 7);
  EXPECT_TRUE(has_parameter(gru, "bridge.h_l1.weight") && !has_parameter(gru, "bridge.c_l1.weight"));
  options.bridge = Bridge::copy;
  EXPECT_FALSE(has_parameter(EncoderDecoder(options, 5, 7), "bridge.h_l0.weight"));
}

// Cell::carries_h() must say whether a step from another h has another result.
TEST(EncoderDecoder, BeginsWithTheHOfItsEncoderWhereAStepReadsIt) {
  const NoGradient guard;
  for (const std::string& cell : cell_names()) {
    if (cell == "forgetful") continue;  // another test's, which ignores h by mistake
    EncoderDecoderOptions options;
    options.cell = cell;
    set(options, "embedding=4 hidden=4 bidirectional=false attention=none bridge=copy");
    EncoderDecoder model(options, 5, 7);
    model.set_training(false);
    const EncoderDecoder::Source source = model.encode({tokens({1, 2, 3}), 3, 1, {3}});
    const Variable h = source.context, zeros(Tensor::zeros({1, 4}));
    const auto readout_from = [&](const Variable& first_h) {
      EncoderDecoder::Position position = model.first_position(source);
      position.states[0].h = first_h;
      model.begin_steps(1);
      return model.step(tokens({1}), position, source).output.readout.value().to_vector();
    };
    const bool reads_h = readout_from(h) != readout_from(zeros);
    EXPECT_EQ(source.first[0].h.value().to_vector(), (reads_h ? h : zeros).value().to_vector()) << cell;
  }
}

}  // namespace
}  // namespace rondo
