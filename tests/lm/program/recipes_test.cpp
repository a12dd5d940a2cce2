#include <gtest/gtest.h>

#include <set>

#include "lm/program/recipe.h"
#include "lm/report/evaluation_report.h"
#include "nn/cells/multiplicative_integration.h"
#include "tests/lm/program/program.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

Setting setting(const std::string& text) { return parse_setting(text); }

/// Where a member is; of an enum that is not known.
struct AddressOf {
  const void* operator()(const auto* member) const { return member; }
  const void* operator()(const ChoiceMember&) const { return nullptr; }
};

TEST(Recipe, TheTableNamesEachKeyOnceAndDefaultsAreWithinLimits) {
  Recipe recipe;
  std::set<std::string> names;
  std::set<const void*> members;
  for (const Key& key : keys_of(recipe)) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    const void* member = std::visit(AddressOf(), key.member);
    EXPECT_TRUE(!member || members.insert(member).second) << key.name;
    EXPECT_FALSE(key.doc.empty()) << key.name;
    EXPECT_EQ(key.doc.find('\n'), std::string::npos) << key.name;
    const bool is_optional = std::holds_alternative<std::optional<double>*>(key.member);
    EXPECT_FALSE(is_optional && within(key.limits, not_given)) << key.name << ": could be given";
  }
  Recipe back;
  read_toml(write_toml(keys_of(recipe)), "defaults", keys_of(back));
  EXPECT_NO_THROW(validate(recipe, "defaults"));
}

TEST(Recipes, EveryFileIsBuiltIn) {
  std::set<std::string> files, built_in;
  const fs::path folder = RONDO_SOURCE_DIR "/lm/program/recipes";
  for (const auto& entry : fs::directory_iterator(folder)) files.insert(entry.path().stem());
  for (const auto& [name, text] : built_in_recipes()) {
    EXPECT_TRUE(built_in.emplace(name).second) << name;
    EXPECT_EQ(text, bytes_of_file(folder / (std::string(name) + ".toml"))) << name << ": the build is stale";
  }
  EXPECT_EQ(files, built_in);
}

TEST(Recipes, AllAreValidAndOpenWithAComment) {
  for (const auto& [name, text] : built_in_recipes()) {
    const Recipe recipe = resolve_recipe(std::string(name), {});
    EXPECT_EQ(recipe.name, name);
    EXPECT_FALSE(recipe.description.empty()) << name;
    EXPECT_EQ(text.substr(0, 2), "# ") << name;
    EXPECT_EQ((recipe.description + recipe.paper).find('|'), std::string::npos) << name << ": ends a cell";
  }
}

TEST(Recipes, WithAnAdaptiveSoftmaxIsThatOfZarembaButForItsOutput) {
  Recipe adaptive = load_recipe("lstm-adaptive-small-wt2"), plain = load_recipe("zaremba-small");
  const std::vector<Key> keys = keys_of(adaptive), others = keys_of(plain);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string& key = keys[i].name;
    if (key == "model.output" || key.starts_with("published.") || key.starts_with("recipe.")) continue;
    EXPECT_EQ(value_text(keys[i]), value_text(others[i])) << key;
  }
}

TEST(Recipes, LaterSettingsWin) {
  const Recipe recipe = resolve_recipe(
      "zaremba-small",
      {setting("train.epochs=3"), {"--epochs 5", "train.epochs", "5"}, setting("train.batch=10")});
  EXPECT_EQ(recipe.trainer.epochs, 5);
  EXPECT_EQ(recipe.language_model().train.batches.batch, 10);
  EXPECT_EQ(recipe.language_model().train.batches.chunks.length, 20) << "the recipe's";
}

TEST(Recipes, UnknownNamesTheNearest) {
  expect_contains(error_of([] { load_recipe("zaremba-smal"); }), "did you mean 'zaremba-small'?");
  expect_contains(error_of([] { load_recipe(""); }), "no recipe named ''");
  expect_contains(error_of([] { load_recipe("LSTM"); }), " recipes` lists them");
}

TEST(Recipes, Files) {
  const TemporaryFolder folder;
  const auto path = folder / "mine.toml";
  write_bytes(path, "[model]\nhidden = 7\n");
  EXPECT_EQ(resolve_recipe(path, {}).language_model().model.hidden, std::vector<std::int64_t>{7});
  EXPECT_EQ(resolve_recipe(path, {}).name, "mine");
  write_bytes(path, "[model]\nhidden = 7\n[made_by]\nthreads = 2\n");
  EXPECT_EQ(load_recipe(path).language_model().model.hidden, std::vector<std::int64_t>{7})
      << "a run's config.toml is a recipe, too";
  write_bytes(path, "[model]\nhidden = 0\n");
  expect_contains(error_of([&] { load_recipe(path); }), path.string() + ":2:10: model.hidden = [0]");
  expect_contains(error_of([&] { load_recipe(folder / "none.toml"); }), "No such file");
  expect_contains(error_of([&] { load_recipe(folder.path()); }), "folder");
}

Recipe small_lstm(const Words& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(setting(text));
  return resolve_recipe("zaremba-small", settings);
}

TEST(Recipes, ContradictionsNameTheRemedy) {
  const std::string adaptive = "model.output=adaptive", tied = "model.tied=true", bn = "model.cell=bn_lstm",
                    gru = "model.cell=gru", file = "data.vocabulary_file=vocab.txt",
                    too_few = " = 1: batch normalisation takes statistics over the rows";
  std::vector<std::pair<Words, std::string>> rows = {
      {{tied, "model.embedding=100"}, "set model.embedding = 200 or model.tied = false"},
      {{tied, "model.output_layers=[50]"}, "50, from model.output_layers"},
      {{"model.output_activation=identity"}, "set model.output_layers"},
      {{tied, "model.hidden=[200, 50]"}, "50, from model.hidden"},
      {{tied, "model.embedding=0"}, "needs an embedding"},
      {{"train.micro_batch=3"}, "train.micro_batch = 3 does not divide the batch of 20"},
      {{gru, "model.forget_bias=1"}, "model.forget_bias is for lstm"},
      {{gru, "model.forget_bias=1"}, "set it to its default, --set model.forget_bias=0"},
      {{gru, "model.zoneout_memory=0.1"}, "keeps units of a cell state, and the cell gru has none"},
      {{"model.biases=0", "model.forget_bias=1"}, "leave out one of them"},
      {{"model.biases=0", "model.cell=mgu", "model.mgu_gate=mgu3"},
       "set model.biases to 1, or choose another model.mgu_gate"},
      {{bn, "train.batch=1"}, "train.batch" + too_few},
      {{bn, "train.micro_batch=1"}, "train.micro_batch" + too_few},
      {{"model.cell=trnn", "model.weight_drop=0.5"}, "the cell trnn has none"},
      {{"model.cell=mlstm", "model.intermediate=0"}, "model.intermediate = 0"},
      {{"model.intermediate=30"}, "is for mrnn"},
      {{"model.alpha=2"}, "is for mi_rnn"},
      {{"model.transition=[30]"}, "is for dt_rnn, dts_rnn, dt_lstm, dt_gru"},
      {{"model.bidirectional=true"}, "left-to-right language model"},
      {{"model.layers=1", "model.hidden=[8, 9]"}, "model.hidden has 2 widths for 1 layers"},
      {{"model.major_ratio=1.5"}, "at most 1, which leaves no minor cell; not 1.5"},
      {{"model.major_ratio=0.001"}, "(model.major_ratio) leaves no unit to the major cell"},
      {{"model.major_ratio=0.5", "model.embedding=0"}, "a minor cell reads the embedding"},
      {{"model.minor_input=previous_layer"}, "there is no minor cell"},
      {{"model.block=residual", "model.feed_forward=0.002"}, "leaves a block's layers no unit"},
      {{"model.embedding=0", "model.embedding_dropout=0.1"}, "set model.embedding"},
      {{"model.hidden_dropout=-0.5"}, "expected a number, 0 to below 1, or -1"},
      {{"model.variational=true"}, "how model.dropout drops"},
      {{"model.variational=true", "model.hidden_dropout=0"}, "set one, or leave this out"},
      {{"model.latent_dropout=0.3"}, "set model.experts"},
      {{file, adaptive}, "an order of its own"},
      {{adaptive, "model.experts=3"}, "set model.experts = 1 or model.output = \"softmax\""},
      {{adaptive, tied}, "set model.tied = false or model.output = \"softmax\""},
      {{adaptive, "model.cutoffs=[20, 20]"}, "a cluster from 20 to 20 is to have two symbols or more"},
      {{adaptive, "model.cutoffs=[20, 10]"}, "give numbers that rise by at least 2"},
      {{adaptive, "model.cutoffs=[0]"}, "model.cutoffs = [0]"},
      {{adaptive, "model.cluster_divisor=0"}, "model.cluster_divisor = 0"},
      {{adaptive, "model.cluster_divisor=15"}, "of 200 units before the output, 200 / 15^2 leaves none"},
      {{adaptive, "model.cutoffs=[9, 20, 40, 80]"}, "leaves none to the vectors of cluster 4"},
      {{"model.init_all=0", tied, "model.output_init=orthogonal"}, "model.output_init"},
      {{"train.optimizer=adam", "train.momentum=0.9"}, "train.momentum = 0.9"},
      {{"data.strip_lines=true"}, "data.strip_lines"},
      {{"data.max_size=1"}, "data.max_size"},
      {{"recipe.name=a/b"}, "without '/'"},
      {{"train.schedule=milestones"}, "train.decay_at"},
      {{"train.decay_at=[3]"}, "\"milestones\" belong together"},
      {{"train.decay_at=[3, 0]", "train.schedule=milestones"}, "train.decay_at = [3, 0]"},
      {{"train.averaging=non_monotonic", "train.non_monotonic_stopping=true"}, "leave one of them out"},
  };
  for (const char* cell : {"mi_rnn", "mi_rnn_simple", "linear_mi_rnn", "mi_lstm", "mi_gru", "bn_lstm",
                           "bn_mi_lstm", "dt_rnn", "dts_rnn"})
    rows.push_back({{fmt::format("model.cell={}", cell), "model.biases=0"},
                    "model.biases = 0 is for cells whose gates are sums"});
  for (const char* text :
       {"data.vocabulary=all", "data.min_count=2", "data.max_size=9", "data.unknown=false"})
    rows.push_back({{file, text}, "data.vocabulary_file is the whole vocabulary"});
  for (const char* text : {"model.cutoffs=[20]", "model.cluster_divisor=2"})
    rows.push_back({{text}, "set model.output = \"adaptive\", or leave them out"});
  for (const std::string weights : {"input", "recurrent", "output"})
    rows.push_back({{"model." + weights + "_init=orthogonal"}, "model.init_all = 0.1 sets every parameter"});
  for (const char* key :
       {"length_deviation", "reset_every", "activation_regularization", "temporal_regularization"})
    for (const char* batching : {"lines", "crops"})
      rows.push_back(
          {{fmt::format("train.{}=2", key), fmt::format("data.batching={}", batching)},
           fmt::format("train.{} = 2 is for data.batching = \"streams\", not \"{}\"", key, batching)});
  for (const char* optimizer : {"adam", "adamw", "rmsprop"})
    rows.push_back(
        {{fmt::format("train.optimizer={}", optimizer), "train.learning_rate=30"},
         fmt::format("learning_rate = 30 with {}, which moves each weight by about that much", optimizer)});
  for (const auto& [settings, part] : rows)
    expect_contains(error_of([&, given = settings] { small_lstm(given); }), part);
}

TEST(Recipes, WhatIsNoContradictionIsAccepted) {
  for (const Words& settings :
       std::vector<Words>{{"model.biases=0"},
                          {"model.biases=0", "model.cell=gru_reset_after"},
                          {"model.biases=0", "model.cell=mgru"},
                          {"model.biases=0", "model.cell=dt_lstm"},
                          {"model.variational=true", "model.input_dropout=0.1"},
                          {"model.variational=true", "model.hidden_dropout=0.1"},
                          {"model.variational=true", "model.output_dropout=0.1"},
                          {"model.experts=2", "model.tied=true", "model.embedding=50"},
                          {"train.learning_rate=30"},
                          {"model.tied=true", "train.micro_batch=5"}})
    EXPECT_NO_THROW(small_lstm(settings)) << settings.front();
}

TEST(Recipes, ContradictionsNameTheFileAndTheKeyOnce) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"attention-multi30k", "data.source_language=en",
       "data.source_language and data.target_language are both \"en\": each text would be its own "
       "translation"},
      {"attention-multi30k", "data.max_size=1",
       "data.max_size = 1 keeps one symbol: nothing to predict; 0 keeps all"},
      {"attention-multi30k", "decoding.n_best=6",
       "decoding.n_best = 6: a beam of 5 keeps fewer hypotheses; set beam to 6 or more"},
      {"classify-trec", "data.train_file=", "data.train_file is the name of a file: it cannot be empty"},
      {"classify-trec", "model.hidden=7",
       "model.hidden = 7: a bidirectional layer has half of it in each direction; give an even number"}};
  for (const auto& [name, text, expected] : rows)
    EXPECT_EQ(error_of([&, of = name, set = text] { resolve_recipe(of, {setting(set)}); }),
              fmt::format("{}: {}", name, expected));
}

// That each key reaches something: each_key_test.cpp. Here: those that could be taken for each other.
TEST(Recipes, SettingsReachTheModel) {
  const Recipe recipe = small_lstm(words_in(R"(
        model.hidden=[30,40] model.tied=true model.embedding=40 model.variational=true
        model.dropout=0.15 model.recurrent_dropout=0.1 model.zoneout=0.2 model.zoneout_memory=0.3
        train.length=9 model.input_dropout=0.25 model.hidden_dropout=0 model.embedding_dropout=0.35
        model.weight_drop=0.45 model.experts=3 model.latent_dropout=0.55 model.init_all=0
        model.input_init=uniform model.input_range=0.2 model.recurrent_init=orthogonal
        model.output_range=2)"));
  const LanguageModelOptions options = model_options(recipe.language_model());
  EXPECT_EQ(layer_by_layer(options).hidden, (std::vector<int64_t>{30, 40}));
  EXPECT_EQ(options.dropout, 0.15);
  EXPECT_EQ(options.input_dropout, 0.25);
  EXPECT_EQ(options.hidden_dropout, 0);
  EXPECT_EQ(options.output_dropout, std::nullopt);
  EXPECT_EQ(options.embedding_dropout, 0.35);
  EXPECT_EQ(options.latent_dropout, 0.55);
  EXPECT_EQ(options.regularization.weight_drop, 0.45);
  EXPECT_EQ(options.regularization.dropout, 0.1);
  EXPECT_EQ(options.regularization.zoneout, 0.2);
  EXPECT_EQ(options.regularization.zoneout_memory, 0.3);
  EXPECT_EQ(options.max_time_steps, 9);
  EXPECT_EQ(options.input_init.initializer()->kind, Initializer::Kind::uniform);
  EXPECT_EQ(options.input_init.initializer()->size, 0.2);
  EXPECT_EQ(options.recurrent_init.initializer()->kind, Initializer::Kind::orthogonal);
  EXPECT_FALSE(options.output_init.initializer()) << "the layer's own";
  const auto integration =
      model_options(small_lstm({"model.cell=mi_gru", "model.alpha=2", "model.beta1=3", "model.beta2=4"})
                        .language_model())
          .cell_settings.get<IntegrationSettings>();
  EXPECT_EQ(std::tuple(integration.alpha, integration.beta1, integration.beta2), std::tuple(2, 3, 4));
}

TEST(Recipes, BatchNormalisationNeedsSeveralRowsInEveryTask) {
  const auto error = [](const std::string& name, const std::string& key) {
    return error_of([&] {
      resolve_recipe(name,
                     {setting("model.forget_bias=0"), setting(key + "=bn_lstm"), setting("train.batch=1")});
    });
  };
  const std::string expected =
      ": train.batch = 1: batch normalisation takes statistics over the rows that are "
      "computed at once: set it to 2 or more";
  for (const std::string name : {"char-lstm", "classify-trec", "attention-multi30k", "attentive-reader",
                                 "multi-task-one-to-many-multi30k", "skip-thought", "speech-digits"})
    EXPECT_EQ(error(name, "model.cell"), name + expected);
  EXPECT_EQ(error("skip-thought", "model.decoder_cell"), "skip-thought" + expected);
}

TEST(Recipes, Listing) {
  const std::string text = output_of_lm({"recipes"});
  for (const auto& [name, ignored] : built_in_recipes()) expect_contains(text, std::string(name));
  expect_contains(text, "published perplexity: valid 85.6, test -");
  const std::string json = output_of_lm({"recipes", "--json"});
  expect_contains(json, "\"valid\": 120.7");
  EXPECT_EQ(json.front(), '{');
}

TEST(Recipes, ShowAllThatIsPublished) {
  const PublishedFigures all = load_recipe("awd-lstm-ptb").published;
  EXPECT_EQ(published_text(all),
            "perplexity: valid 61.2, test 58.8; finetuned 58.8, 56.5; dynamic 51.6, 51.1; cache "
            "53.2, 52.5");
  EXPECT_EQ(published_json(all).dump(),
            R"({"valid":61.2,"test":58.8,"unit":"perplexity","finetuned":{"valid":58.8,"test":56.5},)"
            R"("dynamic":{"valid":51.6,"test":51.1},"cache":{"valid":53.2,"test":52.5}})");
  EXPECT_EQ(published_text({}), "");
  EXPECT_EQ(published_json({}).dump(), R"({"valid":null,"test":null,"unit":null})");

  const auto figure = [&](bool finetuned, const char* split, bool dynamic, bool cache) {
    return published_figure(all, finetuned, split, dynamic, cache);
  };
  EXPECT_EQ(figure(false, "valid", false, false), 61.2);
  EXPECT_EQ(figure(false, "test", false, false), 58.8);
  EXPECT_EQ(figure(true, "test", true, false), 51.1);
  EXPECT_EQ(figure(true, "valid", false, true), 53.2);
  EXPECT_EQ(figure(false, "test", true, false), 0) << "the paper's is of the finetuned model";
  EXPECT_EQ(figure(true, "test", true, true), 0);
  EXPECT_EQ(figure(false, "train", false, false), 0);
  EXPECT_EQ(figure(false, "", false, false), 0) << "a file of the user's";
}

}  // namespace
}  // namespace rondo
