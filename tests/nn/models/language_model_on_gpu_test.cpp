// Whole models with every cell, on both devices: two chunks of training with all that can be asked of it,
// then evaluation. A new cell is compared without an edit here.
#include "nn/models/language_model.h"

#include "nn/cells/join.h"
#include "nn/regularization.h"
#include "tests/nn/models/same_model.h"

namespace rondo {
namespace {

constexpr int64_t T = 5, B = 4, V = 270;

LanguageModel::Input chunk(uint64_t number, const Lengths& lengths = {}) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < T * B; ++i)
    ids.push_back(static_cast<int32_t>((i * i + i / 3 + 7 * number) % 19 * 13));
  return {tokens(ids), T, B, lengths};
}
Tokens targets(uint64_t number) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < T * B; ++i)
    ids.push_back(i % 6 == 5 ? -1 : static_cast<int32_t>((i * 31 + 7 * number) % V));
  return tokens(ids);
}

/// EXPECT the same losses, gradients, states and statistics of so many chunks of training, each from the
/// states of the one before, and of one in evaluation.
void expect_same_training(const LanguageModelOptions& options, uint64_t chunks, const Lengths& lengths = {}) {
  std::vector<State> states;
  const auto go_on = [&](const std::vector<State>& next, Results& results) {
    states = detached(next);
    for (const State& it : states) {
      results.push_back(it.h.value().to_vector());
      if (it.c.defined()) results.push_back(it.c.value().to_vector());
    }
  };
  const auto step = [&](LanguageModel& model, Results& results) {
    Variable loss;
    if (!model.training()) {
      const NoGradient guard;
      const auto [output, next] = model.forward(chunk(9), states);
      results.push_back(model.logits(output).value().to_vector());
      results.push_back(model.cross_entropy(output, targets(9)).each.to_vector());
      go_on(next, results);
      return loss;
    }
    states = model.initial_states(B);
    for (uint64_t update = 1; update <= chunks; ++update) {
      if (loss.defined()) loss.backward();
      // Two of four streams, as in a micro-batch of a batch of eight.
      model.begin_update({.seed = 3, .update = update, .slice = {B, 2, 2 * B}});
      const auto [output, next] = model.forward(chunk(update, lengths), states);
      const CrossEntropy nats = model.cross_entropy(output, targets(update));
      loss = nats.total * real(0.1) + activation_regularization(output.dropped) * real(2) +
             temporal_regularization(output.hidden);
      results.push_back(nats.each.to_vector());
      results.push_back({nats.total.value().item(), loss.value().item()});
      go_on(next, results);
    }
    return loss;
  };
  // Normalisation of few numbers divides by a small deviation: seeds of the perturbed GPU are up to 1.5 times
  // the tolerance away.
  const bool normalizes = options.cell.starts_with("ln_") || options.cell.starts_with("bn_");
  expect_same_model<LanguageModel>(options.cell, B, normalizes ? 4 * tolerance : tolerance, options, step, V,
                                   11);
}

class LanguageModelOnGpu : public testing::TestWithParam<std::string> {
 protected:
  LanguageModelOptions options() const {
    LanguageModelOptions it;
    it.cell = GetParam();
    // not 0, where layer normalisation multiplies differences of rounding by hundreds
    set(it, "embedding=6 hidden=[7,9] init_all=0.5");
    return it;
  }
  /// Of cells that may have so many.
  static void set_biases(LanguageModelOptions& options, int64_t count) {
    LanguageModelOptions changed = options;
    changed.cell_settings.of<GateBiasSettings>().biases = count;
    try {
      check_settings(options.cell, changed.cell_settings, "");
      options = changed;
    } catch (const InputError&) {
    }
  }
  double weight_drop() const { return traits_of(GetParam()).recurrent_weights ? 0.3 : 0; }
};

TEST(AdaptiveSoftmaxOnGpu, IsThatOfTheCpu) {
  NEED_GPU();
  for (const std::vector<int64_t>& cutoffs : {std::vector<int64_t>{}, {3, 9, 100}}) {
    LanguageModelOptions it;
    set(it, "embedding=6 hidden=[7,19] output=adaptive");
    it.adaptive = {.cutoffs = cutoffs, .divisor = 2};
    expect_same_training(it, 2);
  }
}

TEST_P(LanguageModelOnGpu, WithEveryRegularization) {
  NEED_GPU();
  LanguageModelOptions it = options();
  set(it,
      "input_dropout=0.2 hidden_dropout=0.3 output_dropout=0.4 latent_dropout=0.2 "
      "embedding_dropout=0.2 variational=true");
  const CellTraits cell = traits_of(GetParam());
  it.regularization = {.dropout = cell.reads_h ? 0.2 : 0,
                       .zoneout = 0.2,
                       .zoneout_memory = cell.cell_state ? 0.3 : 0,
                       .weight_drop = weight_drop()};
  it.experts = 3;
  it.tied = true;
  expect_same_training(it, 2);
}

TEST_P(LanguageModelOnGpu, WithMinorCells) {
  NEED_GPU();
  for (const MinorInput reads : {MinorInput::embedding, MinorInput::previous_layer}) {
    LanguageModelOptions it = options();
    it.major_ratio = {0.7, 0.6};
    it.minor_input = reads;
    if (reads == MinorInput::previous_layer) set_biases(it, 0);
    it.dropout = 0.3;
    it.regularization.weight_drop = weight_drop();
    expect_same_training(it, 1);
  }
}

TEST_P(LanguageModelOnGpu, OfOneHotSymbolsAndLinesOfManyLengthsFromTrainedStates) {
  NEED_GPU();
  LanguageModelOptions it = options();
  set(it, "embedding=0 hidden=[5,4] output_layers=[6] trained_initial_states=true");
  set_biases(it, 1);
  expect_same_training(it, 1, {5, 3, 4, 0});
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelOnGpu, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace rondo
