// The gradient of the whole model's loss, with a few cells; each cell alone: tests/nn/cells.
#include <gtest/gtest.h>

#include <string>

#include "nn/models/language_model.h"
#include "tests/nn/recurrent/stack_model.h"

namespace rondo {
namespace {

class LanguageModelGradient : public testing::TestWithParam<std::string> {};

TEST_P(LanguageModelGradient, OfTheLoss) {
  const auto check = [&](const std::function<void(LanguageModelOptions&)>& change) {
    LanguageModelOptions options;
    options.cell = GetParam();
    options.embedding = 3;
    options.embedding_init.range = 1;  // layer normalisation of small rows is too steep for differences
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
  check([](LanguageModelOptions& options) { options.embedding = 0; });  // one-hot
  check([](LanguageModelOptions& options) {
    options.major_ratio = {0.5, 0.7};
    options.variational = true;
    options.regularization = {.dropout = traits_of(options.cell).reads_h ? 0.3 : 0, .zoneout = 0.2};
  });
  check([](LanguageModelOptions& options) {
    options.trained_initial_states = true;
    options.embedding_init = default_of_embeddings;
    options.init_all = 0.8;  // not 0, where layer normalisation is steep
  });
  check([](LanguageModelOptions& options) { options.tied = true; });
  check([](LanguageModelOptions& options) { options.output_layers = {5, 6}; });
  check([](LanguageModelOptions& options) {
    options.output_layers = {5, 6};
    options.output_activation = OutputActivation::identity;
  });
  check([](LanguageModelOptions& options) { options.output_layers = {5, 3}, options.tied = true; });
}

/// The gradients of the loss, which is computed in blocks or clusters, and those of its definition: the log
/// of the distribution, with a history of its own.
void expect_gradients_of_the_distribution(const LanguageModelOptions& options) {
  LanguageModel model(options, 7, 11);
  model.set_training(true);
  const auto output = [&] {
    model.begin_update({.seed = 2, .update = 5, .slice = {2, 0, 2}});
    return model.forward({tokens({0, 3, 6, 3, 3, 1, 2, 6}), 4, 2}, model.initial_states(2)).output;
  };
  const Tokens targets = tokens({3, 6, 3, 3, -1, 2, 6, 0});
  const auto loss = [&] { return model.cross_entropy(output(), targets); };
  expect_parameter_gradients(model, [&] { return loss().total; });
  const std::vector<real> gradients = model.gradients().to_vector(), each = loss().each.to_vector();

  const Variable log_p = model.logits(output());
  real expected = 0;
  for (int64_t r = 0; r < 8; ++r) {
    const std::vector<real> row = log_p.value().slice_rows(r, r + 1).to_vector();
    double sum = 0;
    for (const real it : row) sum += std::exp(it);
    EXPECT_NEAR(sum, 1, 1e-12);
    const int32_t target = (*targets)[static_cast<size_t>(r)];
    EXPECT_NEAR(each[static_cast<size_t>(r)], target < 0 ? 0 : -row[static_cast<size_t>(target)], 1e-12);
    expected += each[static_cast<size_t>(r)];
  }
  fill(model.gradients(), 0);
  const Variable definition = sum(cross_entropy(log_p, targets));  // log p has a softmax of p
  EXPECT_NEAR(definition.value().item(), expected, 1e-12);
  definition.backward();
  const std::vector<real> of_definition = model.gradients().to_vector();
  for (size_t i = 0; i < gradients.size(); ++i) ASSERT_NEAR(of_definition[i], gradients[i], 1e-11) << i;
}

TEST(MixtureOfSoftmaxes, HasRightGradientsAndThoseOfItsDistribution) {
  for (const bool tied : {false, true}) {
    LanguageModelOptions options;
    options.embedding = 3;
    options.hidden = {4, 5};
    options.experts = 3;
    options.latent_dropout = 0.3;
    options.embedding_dropout = 0.2;
    options.regularization.weight_drop = 0.3;
    options.tied = tied;
    expect_gradients_of_the_distribution(options);
  }
}

TEST(AdaptiveSoftmax, HasRightGradientsAndThoseOfItsDistribution) {
  for (const std::vector<int64_t>& cutoffs : {std::vector<int64_t>{3}, {1, 4}, {}}) {
    LanguageModelOptions options;
    options.embedding = 3;
    options.hidden = {4, 5};
    options.output_dropout = 0.3;
    options.output = OutputKind::adaptive;
    options.adaptive = {.cutoffs = cutoffs, .divisor = 2};
    expect_gradients_of_the_distribution(options);
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelGradient, testing::Values("lstm", "fs_lstm", "bn_mi_lstm"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace rondo
