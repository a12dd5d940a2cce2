// Whole models with every cell, on both devices: two chunks of training with all that can be asked of it,
// then evaluation. A new cell is compared without an edit here.
#include "nn/models/language_model.h"

#include "nn/cells/join.h"
#include "nn/regularization.h"
#include "tests/cuda/device.h"
#include "tests/nn/settings.h"

namespace rondo {
namespace {

constexpr int64_t T = 5, B = 4, V = 270;

/// The same model on both devices, from the same seed.
class Twins {
 public:
  explicit Twins(const LanguageModelOptions& options)
      : on_cpu_{LanguageModel(options, V, 11), {}}, on_gpu_{LanguageModel(options, V, 11, Device::cuda), {}} {
    EXPECT_EQ(on_gpu_.model.values().to_vector(), on_cpu_.model.values().to_vector()) << "initial values";
    for (Twin* twin : {&on_cpu_, &on_gpu_}) twin->states = twin->model.initial_states(B);
  }

  /// One chunk from the states of the one before: EXPECT the same losses, gradients, states and statistics.
  void train(uint64_t update, const Lengths& lengths = {}) {
    for (Twin* twin : {&on_cpu_, &on_gpu_}) {
      LanguageModel& model = twin->model;
      model.set_training(true);
      fill(model.gradients(), 0);
      // Two of four streams, as in a micro-batch of a batch of eight.
      model.begin_update({.seed = 3, .update = update, .slice = {B, 2, 2 * B}});
      auto [output, states] = model.forward(chunk(update, lengths), twin->states);
      const CrossEntropy loss = model.cross_entropy(output, targets(update));
      twin->each = loss.each.to_vector();
      const Variable penalized = loss.total * real(0.1) +
                                 activation_regularization(output.dropped) * real(2) +
                                 temporal_regularization(output.hidden);
      twin->loss = {loss.total.value().item(), penalized.value().item()};
      twin->states = detached(states);
      output = {};
      penalized.backward();
    }
    expect_same(on_gpu_.loss, on_cpu_.loss, "the loss");
    expect_same(on_gpu_.each, on_cpu_.each, "the loss of each row");
    // Normalisation of few numbers divides by a small deviation: seeds of the perturbed GPU are up to 1.5
    // times the tolerance away.
    const std::string& cell = on_cpu_.model.options().cell;
    const bool normalizes = cell.starts_with("ln_") || cell.starts_with("bn_");
    const double bound = normalizes ? 4 * tolerance : tolerance;
    for (const Segment& segment : on_cpu_.model.segments())
      expect_same(part_of(on_gpu_.model.gradients(), segment), part_of(on_cpu_.model.gradients(), segment),
                  "the gradient of " + segment.name, bound);
    expect_same_states();
    for (size_t i = 0; i < on_cpu_.model.buffers().size(); ++i)
      expect_same(on_gpu_.model.buffers()[i]->tensor(), on_cpu_.model.buffers()[i]->tensor(),
                  on_cpu_.model.buffers()[i]->name());
  }

  void evaluate() {
    const NoGradient guard;
    for (Twin* twin : {&on_cpu_, &on_gpu_}) {
      LanguageModel& model = twin->model;
      model.set_training(false);
      const auto [output, states] = model.forward(chunk(9), twin->states);
      twin->logits = model.logits(output).value();
      twin->each = model.cross_entropy(output, targets(9)).each.to_vector();
      twin->states = states;
    }
    expect_same(on_gpu_.logits, on_cpu_.logits, "the logits");
    expect_same(on_gpu_.each, on_cpu_.each, "the loss of each row in evaluation");
    expect_same_states();
  }

 private:
  struct Twin {
    LanguageModel model;
    std::vector<State> states;
    std::vector<real> loss{}, each{};
    Tensor logits{};
  };

  static LanguageModel::Input chunk(uint64_t number, const Lengths& lengths = {}) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < T * B; ++i)
      ids.push_back(static_cast<int32_t>((i * i + i / 3 + 7 * number) % 19 * 13));
    return {tokens(ids), T, B, lengths};
  }
  static Tokens targets(uint64_t number) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < T * B; ++i)
      ids.push_back(i % 6 == 5 ? -1 : static_cast<int32_t>((i * 31 + 7 * number) % V));
    return tokens(ids);
  }
  void expect_same_states() const {
    for (size_t i = 0; i < on_cpu_.states.size(); ++i) {
      expect_same(on_gpu_.states[i].h.value(), on_cpu_.states[i].h.value(), fmt::format("h of cell {}", i));
      if (on_cpu_.states[i].c.defined())
        expect_same(on_gpu_.states[i].c.value(), on_cpu_.states[i].c.value(), fmt::format("c of cell {}", i));
    }
  }

  Twin on_cpu_, on_gpu_;
};

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
    Twins twins(it);
    twins.train(1);
    twins.train(2);
    twins.evaluate();
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
  Twins twins(it);
  twins.train(1);
  twins.train(2);
  twins.evaluate();
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
    Twins twins(it);
    twins.train(1);
    twins.evaluate();
  }
}

TEST_P(LanguageModelOnGpu, OfOneHotSymbolsAndLinesOfManyLengthsFromTrainedStates) {
  NEED_GPU();
  LanguageModelOptions it = options();
  set(it, "embedding=0 hidden=[5,4] output_layers=[6] trained_initial_states=true");
  set_biases(it, 1);
  Twins twins(it);
  twins.train(1, {5, 3, 4, 0});
  twins.evaluate();
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelOnGpu, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace rondo
