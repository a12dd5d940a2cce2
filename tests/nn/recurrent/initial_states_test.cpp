// Trained initial states: which cells have which, where they begin, and the models that have none.
#include "nn/models/encoder_decoder.h"
#include "nn/models/language_model.h"
#include "nn/models/skip_thought.h"
#include "tests/nn/parameters.h"
#include "tests/nn/recurrent/stack_model.h"

namespace rondo {
namespace {

StackAlone stack_of(const std::string& cell, bool trained) {
  CellOptions layer = pytorch_cell(4, 6), next = pytorch_cell(12, 6);
  layer.trained_initial_state = next.trained_initial_state = trained;
  return StackAlone({.cell = cell, .layers = {layer, next}, .bidirectional = true});
}
std::vector<std::string> initial(const Module& model) {
  std::vector<std::string> names;
  for (const Segment& segment : model.segments())
    if (segment.name.find("0_l") != std::string::npos) names.push_back(segment.name);
  return names;
}

class InitialStates : public testing::TestWithParam<std::string> {};

TEST_P(InitialStates, AreOneVectorForEachLayerAndDirection) {
  EXPECT_TRUE(initial(stack_of(GetParam(), false)).empty());
  const StackAlone model = stack_of(GetParam(), true);
  const Cell& cell = *model.stack.cells().front();
  std::vector<std::string> names;
  for (const char* suffix : {"_l0", "_l0_reverse", "_l1", "_l1_reverse"})
    for (const StateTensor& it : cell.state_tensors())
      if (it.name == "h" ? cell.reads_h() : it.name != "x") names.push_back("rnn." + it.name + "0" + suffix);
  EXPECT_EQ(initial(model), names);

  real next = 0;
  for (const std::string& name : names) {
    const Tensor vector = value_of(model, name);
    EXPECT_EQ(vector.to_vector(), std::vector<real>(static_cast<size_t>(vector.size()))) << "at first 0";
    for (int64_t i = 0; i < vector.size(); ++i) vector.mutable_data()[i] = ++next;
  }
  const std::vector<State> states = model.stack.initial_states(3);
  next = 0;
  for (size_t layer = 0; layer < states.size(); ++layer)
    for (const State::Named& it : states[layer].tensors()) {
      const bool trained = it.name == "h" ? cell.reads_h() : it.name != "x";
      const std::vector<real> rows = it.value.value().to_vector();
      const int64_t width = it.value.shape().columns();
      ASSERT_EQ(std::ssize(rows), 3 * width);
      for (int64_t i = 0; i < 3 * width; ++i)
        EXPECT_EQ(rows[static_cast<size_t>(i)], trained ? next + static_cast<real>(i % width) + 1 : 0)
            << it.name << " of cell " << layer;
      if (trained) next += static_cast<real>(width);
    }
}

INSTANTIATE_TEST_SUITE_P(EveryCell, InitialStates, testing::ValuesIn(cell_names()));

TEST(TrainedInitialStates, DecodersHaveNone) {
  EncoderDecoderOptions translator;
  translator.hidden = 6;
  translator.trained_initial_states = true;
  EXPECT_EQ(initial(EncoderDecoder(translator, 9, 9)),
            (std::vector<std::string>{"encoder.h0_l0", "encoder.c0_l0", "encoder.h0_l0_reverse",
                                      "encoder.c0_l0_reverse"}));
  SkipThoughtOptions sentences;
  sentences.hidden = 6;
  sentences.encoder = SkipEncoder::uni;
  sentences.cell = "gru";
  sentences.trained_initial_states = true;
  EXPECT_EQ(initial(SkipThought(sentences, 9)), std::vector<std::string>{"encoder.h0_l0"});
}

}  // namespace
}  // namespace rondo
