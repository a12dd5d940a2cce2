// Trained initial states in the training of a language model: when they learn, and files.
#include "tests/lm/training/small_training.h"
#include "tests/nn/parameters.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

Recipe recipe_of(Batching batching) {
  Recipe recipe = small_recipe("lstm");
  recipe.language_model().model.trained_initial_states = true;
  recipe.language_model().train.batches.batching = batching;
  recipe.trainer.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1};
  return recipe;
}

std::vector<real> h0_of(const Training& training) {
  return value_of(training.model, "rnn.h0_l1").to_vector();
}

TEST(TrainedInitialStatesOfLanguageModels, LearnWhereAStateBegins) {
  const std::vector<int32_t> ids = some_ids();
  Training crops(recipe_of(Batching::crops), 11, ids, 0);
  for (int step = 0; step < 3; ++step) {
    const std::vector<real> before = h0_of(crops);
    advance(crops, 1);
    EXPECT_NE(h0_of(crops), before) << "every sequence begins with it";
  }
  Recipe recipe = recipe_of(Batching::streams);
  recipe.language_model().train.reset_every = 3;
  Training streams(recipe, 11, ids, 0);
  std::vector<bool> learns;
  for (int step = 0; step < 7; ++step) {
    const std::vector<real> before = h0_of(streams);
    advance(streams, 1);
    learns.push_back(h0_of(streams) != before);
  }
  EXPECT_EQ(learns, (std::vector<bool>{true, false, false, true, false, false, true}));
}

}  // namespace
}  // namespace rondo
