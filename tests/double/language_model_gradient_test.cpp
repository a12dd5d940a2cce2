// The gradient of the whole model's loss, with every cell.
#include <gtest/gtest.h>

#include "nn/language_model.h"
#include "tests/double/stack_model.h"

namespace rondo {
namespace {

class LanguageModelGradient : public testing::TestWithParam<std::string> {};

TEST_P(LanguageModelGradient, OfTheLoss) {
  const auto check = [&](const std::function<void(LanguageModelOptions&)>& change) {
    LanguageModelOptions options;
    options.cell = GetParam();
    options.embedding = 3;
    options.hidden = {4, 3};
    options.dropout = 0.3;
    change(options);
    LanguageModel model(options, 7, 11);
    model.set_training(true);
    model.set_statistics_rate({});  // two rows' own statistics are too steep for differences of 1e-5
    const LanguageModel::Input input{tokens({0, 3, 6, 3, 3, 1, 2, 6}), 4, 2};
    const Tokens targets = tokens({3, 6, 3, 3, -1, 2, 6, 0});
    expect_parameter_gradients(model, [&] {
      model.begin_update({.seed = 2, .update = 5, .slice = {2, 0, 2}});
      return model.cross_entropy(model.forward(input, model.initial_states(2)).output, targets).total;
    });
  };
  check([](LanguageModelOptions&) {});
  check([](LanguageModelOptions& options) { options.tied = true; });
  check([](LanguageModelOptions& options) { options.output_layers = {5, 6}; });
  check([](LanguageModelOptions& options) { options.embedding = 0; });  // one-hot
  check([](LanguageModelOptions& options) {
    options.major_ratio = {0.5, 0.7};
    options.variational = true;
    options.noise = {.dropout = 0.3, .zoneout = 0.2};
  });
  check([](LanguageModelOptions& options) { options.output_layers = {5, 3}, options.tied = true; });
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelGradient, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace rondo
