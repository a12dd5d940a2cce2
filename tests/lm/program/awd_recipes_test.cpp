// The recipes of AWD-LSTM, AWD-LSTM-MoS and AWD-MMLSTMs-MoS, held to the tables of their papers and to the
// settings of their authors' code: every key of a recipe, as what no table has is what it is by default.
// Their parameters: tests/lm/program/recipe_parameters_test.cpp.
#include <gtest/gtest.h>

#include "lm/program/recipe.h"

namespace rondo {
namespace {

/// A setting, its value on the Penn Treebank, and its value on WikiText-2.
struct Row {
  const char *key, *ptb, *wt2;
};
using Table = std::vector<Row>;

/// Holds PREFIX-ptb SUFFIX and PREFIX-wt2 SUFFIX to tables, of which later ones win.
void expect_settings(const std::string& prefix, const std::vector<Table>& tables,
                     const std::string& suffix = "") {
  for (const bool is_ptb : {true, false}) {
    const std::string name = prefix + (is_ptb ? "-ptb" : "-wt2") + suffix;
    Recipe recipe = load_recipe(name), expected;
    const std::vector<Key> keys = keys_of(recipe), expected_keys = keys_of(expected);
    for (const Table& table : tables)
      for (const Row& row : table)
        apply_setting({row.key, row.key, is_ptb ? row.ptb : row.wt2}, expected_keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].name.starts_with("recipe.")) continue;  // its name and where it is from
      EXPECT_EQ(value_text(keys[i]), value_text(expected_keys[i])) << name << ": " << keys[i].name;
    }
  }
}

// Merity et al. 2018 and salesforce/awd-lstm-lm: what all these recipes have.
const Table awd = {
    {"data.unit", "words", "words"},
    {"published.vocabulary", "10000", "33278"},
    {"published.test_symbols", "82430", "245569"},
    {"model.cell", "lstm", "lstm"},
    {"model.layers", "3", "3"},
    {"model.biases", "2", "2"},
    {"model.embedding_range", "0.1", "0.1"},
    {"model.tied", "true", "true"},
    {"model.variational", "true", "true"},
    {"model.embedding_dropout", "0.1", "0.1"},
    {"model.output_dropout", "0.4", "0.4"},
    {"model.weight_drop", "0.5", "0.5"},
    {"train.length", "70", "70"},
    {"train.length_deviation", "5", "5"},
    {"train.loss", "mean", "mean"},
    {"train.optimizer", "sgd", "sgd"},
    {"train.schedule", "constant", "constant"},
    {"train.weight_decay", "1.2e-6", "1.2e-6"},
    {"train.clip", "0.25", "0.25"},
    {"train.averaging", "non_monotonic", "non_monotonic"},
    {"train.averaging_interval", "5", "5"},
    {"train.activation_regularization", "2", "2"},
    {"train.temporal_regularization", "1", "1"},
    {"train.eval_streams", "10", "10"},
};

const Table awd_lstm = {
    {"model.embedding", "400", "400"},       {"model.hidden", "[1150, 1150, 400]", "[1150, 1150, 400]"},
    {"model.input_dropout", "0.4", "0.65"},   // dropouti
    {"model.hidden_dropout", "0.25", "0.2"},  // dropouth
    {"train.epochs", "500", "750"},          {"train.batch", "20", "80"},
    {"train.learning_rate", "30", "30"},     {"finetune.learning_rate", "30", "30"},
    {"finetune.epochs", "500", "750"},
};
// Krause et al. 2017, as the README of benkrause/dynamic-evaluation repeats it, with --oldhyper.
const Table awd_lstm_dynamic = {
    {"dynamic.learning_rate", "0.002", "0.002"},  {"dynamic.decay", "0.02", "0.02"},
    {"dynamic.epsilon", "0.001", "0.001"},        {"dynamic.length", "5", "5"},
    {"dynamic.statistics_streams", "100", "100"}, {"dynamic.style", "old", "old"},
};
// Grave et al. 2017, with the settings of the README of salesforce/awd-lstm-lm.
const Table awd_lstm_cache = {
    {"cache.window", "500", "3785"},
    {"cache.theta", "1", "0.6625523432485668"},
    {"cache.lambda", "0.1", "0.12785920428335693"},
};
// The README of salesforce/awd-lstm-lm, as the settings above; with dynamic evaluation that of
// benkrause/dynamic-evaluation.
const Table awd_lstm_published = {
    {"published.valid", "61.2", "68.7"},           {"published.test", "58.8", "65.6"},
    {"published.finetuned_valid", "58.8", "67.4"}, {"published.finetuned_test", "56.5", "64.7"},
    {"published.dynamic_valid", "51.6", "46.4"},   {"published.dynamic_test", "51.1", "44.3"},
    {"published.cache_valid", "53.2", "52.2"},     {"published.cache_test", "52.5", "50.6"},
};

TEST(AwdRecipes, AwdLstm) {
  expect_settings("awd-lstm", {awd, awd_lstm, awd_lstm_dynamic, awd_lstm_cache, awd_lstm_published});
}

// Yang et al. 2018 and zihangdai/mos.
const Table mixture = {
    {"model.embedding", "280", "300"},
    {"model.hidden", "[960, 960, 620]", "[1150, 1150, 650]"},
    {"model.experts", "15", "15"},
    {"model.input_dropout", "0.4", "0.55"},
    {"model.hidden_dropout", "0.225", "0.2"},
    {"model.latent_dropout", "0.29", "0.29"},
    {"train.epochs", "1000", "1000"},
    {"train.batch", "12", "15"},
    {"train.learning_rate", "20", "15"},
};
const Table mixture_finetuned = {
    {"finetune.learning_rate", "25", "20"},
    {"finetune.epochs", "1000", "1000"},
};
const Table mixture_dynamic = {
    {"dynamic.learning_rate", "0.002", "0.002"},  {"dynamic.decay", "0.075", "0.02"},
    {"dynamic.epsilon", "0.001", "0.002"},        {"dynamic.length", "5", "5"},
    {"dynamic.statistics_streams", "100", "100"}, {"dynamic.style", "old", "old"},
};
const Table mixture_published = {
    {"published.valid", "58.08", "66.01"},           {"published.test", "55.97", "63.33"},
    {"published.finetuned_valid", "56.54", "63.88"}, {"published.finetuned_test", "54.44", "61.45"},
    {"published.dynamic_valid", "48.33", "42.41"},   {"published.dynamic_test", "47.69", "40.68"},
};

TEST(AwdRecipes, AwdLstmMos) {
  expect_settings("awd-lstm-mos", {awd, mixture, mixture_finetuned, mixture_dynamic, mixture_published});
}

// "Major-Minor LSTMs for Word-level Language Model", which changes Yang et al.'s settings by Tables 1 and 2.
const Table table_1 = {
    {"train.learning_rate", "20", "20"},
    {"model.hidden", "[1080, 1080, 620]", "[1200, 1200, 650]"},
    {"model.major_ratio", "[0.9, 0.9, 0.6]", "[0.9, 0.9, 0.6]"},
    {"model.input_dropout", "0.5", "0.55"},   // embedding V-dropout
    {"model.hidden_dropout", "0.25", "0.2"},  // hidden state V-dropout
    {"train.averaging_interval", "10", "10"},
};
const Table table_2 = {
    {"dynamic.statistics_streams", "150", "130"},  // batch size
    {"dynamic.learning_rate", "0.0024", "0.00198"},
    {"dynamic.epsilon", "0.0025", "0.0023"},
    {"dynamic.decay", "0.07", "0.0245"},  // lambda
    {"dynamic.length", "7", "7"},         // bptt
};
const Table tables_3_and_4 = {
    {"published.valid", "56.52", "64.3"},
    {"published.test", "54.51", "61.77"},
    {"published.finetuned_valid", "55.42", "63.11"},
    {"published.finetuned_test", "53.46", "60.51"},
    {"published.dynamic_valid", "47.31", "41.91"},
    {"published.dynamic_test", "46.81", "40.15"},
};
const Table minor_on_embedding = {{"model.minor_input", "embedding", "embedding"}};

TEST(AwdRecipes, MajorMinor) {
  expect_settings("awd-mmlstm-mos", {awd, mixture, table_1, minor_on_embedding, mixture_finetuned,
                                     mixture_dynamic, table_2, tables_3_and_4});
}

// Without finetuning and dynamic evaluation.
TEST(AwdRecipes, AblationsOfMajorMinor) {
  const auto expect = [](const std::string& suffix, const Table& differences) {
    expect_settings("awd-mmlstm-mos", {awd, mixture, table_1, differences}, suffix);
  };
  // Table 5, MMLM-2. The widths are those that give its parameter counts, not the 1150 of 4.4.
  expect("-minor-on-previous", {
                                   {"model.hidden", "[1050, 1050, 620]", "[1160, 1160, 650]"},
                                   {"model.minor_input", "previous_layer", "previous_layer"},
                                   {"published.valid", "57.95", "65.43"},
                                   {"published.test", "55.93", "62.76"},
                               });
  // Table 6. Without minor 2, 1010 gives the parameter count printed for the Penn Treebank; 1030 is printed.
  expect("-no-minor-1", {
                            {"model.hidden", "[1030, 1080, 620]", "[1150, 1200, 650]"},
                            {"model.major_ratio", "[1, 0.9, 0.6]", "[1, 0.9, 0.6]"},
                            {"published.valid", "57.3", "65.34"},
                            {"published.test", "55.10", "62.73"},
                        });
  expect("-no-minor-2", {
                            {"model.hidden", "[1080, 1010, 620]", "[1200, 1130, 650]"},
                            {"model.major_ratio", "[0.9, 1, 0.6]", "[0.9, 1, 0.6]"},
                            {"published.valid", "57.14", "65.07"},
                            {"published.test", "54.93", "62.43"},
                        });
  expect("-no-minor-3", {
                            {"model.hidden", "[1080, 1080, 520]", "[1200, 1200, 550]"},
                            {"model.major_ratio", "[0.9, 0.9, 1]", "[0.9, 0.9, 1]"},
                            {"published.valid", "57.84", "65.66"},
                            {"published.test", "55.74", "63.02"},
                        });
}

}  // namespace
}  // namespace rondo
