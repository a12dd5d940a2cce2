#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lm/program/recipe.h"
#include "lm/report/evaluation_report.h"
#include "nn/cells/deep_transition.h"
#include "nn/cells/multiplicative.h"
#include "nn/cells/multiplicative_integration.h"
#include "tests/lm/program/program.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

Setting setting(const std::string& text) { return parse_setting(text); }

/// Where a member is; of an enum that is not known.
struct AddressOf {
  const void* operator()(const auto* member) const { return member; }
  const void* operator()(const OptionalMember& it) const { return it.member; }
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
  }
  Recipe back;
  read_toml(write_toml(keys_of(recipe)), "defaults", keys_of(back));
  EXPECT_NO_THROW(validate(recipe, "defaults"));
}

TEST(Recipes, EveryFileIsBuiltIn) {
  std::set<std::string> files, built_in;
  const std::filesystem::path folder = RONDO_SOURCE_DIR "/lm/program/recipes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path().stem());
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
  }
}

// Others: tests/lm/program/paper_recipes_test.cpp, tests/lm/program/awd_recipes_test.cpp.
TEST(Recipes, PublishedFiguresOfMaupomeAndMeurs) {
  const auto published = [](const char* name) { return load_recipe(name).published.trained; };
  EXPECT_EQ(published("maupome-ptb-mgru").test, 1.07);
  EXPECT_EQ(published("maupome-text8-mlstm").test, 1.37);
}

// Types and symbols of the test texts, as the papers or the corpora have them; 0: not known.
TEST(Recipes, SayOfWhichTextTheirFiguresAre) {
  const std::map<std::string, std::pair<int64_t, int64_t>> texts = {{"zaremba-small", {10000, 82430}},
                                                                    {"awd-lstm-mos-wt2", {33278, 245569}},
                                                                    {"awd-lstm-ptb-char", {50, 442423}},
                                                                    {"cooijmans-ptb-bn-lstm", {50, 446184}},
                                                                    {"maupome-ptb-mgru", {41, 0}},
                                                                    {"maupome-text8-mgru", {27, 5'000'000}},
                                                                    {"mi-ptb-mi-rnn", {50, 0}},
                                                                    {"mi-text8-lstm", {27, 5'000'000}},
                                                                    {"mi-hutter-mi-lstm", {205, 5'000'000}},
                                                                    {"luchetta-lstm", {0, 0}}};
  for (const auto& [name, text] : texts) {
    const PublishedFigures published = load_recipe(name).published;
    EXPECT_EQ(std::pair(published.vocabulary, published.test_symbols), text) << name;
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

TEST(Recipes, ContradictionsNameTheRemedy) {
  const auto error = [](std::vector<std::string> texts) {
    std::vector<Setting> settings;
    for (const std::string& text : texts) settings.push_back(setting(text));
    return error_of([&] { resolve_recipe("zaremba-small", settings); });
  };
  expect_contains(error({"model.tied=true", "model.embedding=100"}),
                  "set model.embedding = 200 or model.tied = false");
  expect_contains(error({"model.tied=true", "model.output_layers=[50]"}), "50, from model.output_layers");
  expect_contains(error({"model.output_activation=identity"}), "set model.output_layers");
  expect_contains(error({"model.tied=true", "model.hidden=[200, 50]"}), "50, from model.hidden");
  expect_contains(error({"train.micro_batch=3"}), "train.micro_batch = 3 does not divide the batch of 20");
  expect_contains(error({"model.cell=gru", "model.forget_bias=1"}), "model.forget_bias is for lstm");
  expect_contains(error({"model.cell=gru", "model.forget_bias=1"}),
                  "set it to its default, --set model.forget_bias=0");
  for (const char* cell : {"mi_rnn", "mi_rnn_simple", "linear_mi_rnn", "mi_lstm", "mi_gru", "bn_lstm",
                           "bn_mi_lstm", "dt_rnn", "dts_rnn"})
    expect_contains(error({fmt::format("model.cell={}", cell), "model.biases=0"}),
                    "model.biases = 0 is for cells whose gates are sums");
  expect_contains(error({"model.biases=0", "model.forget_bias=1"}), "leave out one of them");
  expect_contains(error({"model.biases=0", "model.cell=mgu", "model.mgu_gate=mgu3"}),
                  "set model.biases to 1, or choose another model.mgu_gate");
  for (const char* cell : {"lstm", "gru_reset_after", "mgru", "dt_lstm"})
    EXPECT_NO_THROW(resolve_recipe("zaremba-small",
                                   {setting(fmt::format("model.cell={}", cell)), setting("model.biases=0")}));
  const std::string too_few = " = 1: batch normalisation takes statistics over the rows";
  expect_contains(error({"model.cell=bn_lstm", "train.batch=1"}), "train.batch" + too_few);
  expect_contains(error({"model.cell=bn_lstm", "train.micro_batch=1"}), "train.micro_batch" + too_few);
  expect_contains(error({"model.cell=trnn", "model.weight_drop=0.5"}), "the cell trnn has none");
  expect_contains(error({"model.embedding=0", "model.embedding_dropout=0.1"}), "set model.embedding");
  expect_contains(error({"model.hidden_dropout=-0.5"}), "expected a number, 0 to below 1, or -1");
  expect_contains(error({"model.variational=true", "model.hidden_dropout=0"}), "set one, or leave this out");
  expect_contains(error({"model.latent_dropout=0.3"}), "set model.experts");
  const std::string file = "data.vocabulary_file=vocab.txt";
  for (const char* text :
       {"data.vocabulary=all", "data.min_count=2", "data.max_size=9", "data.unknown=false"})
    expect_contains(error({file, text}), "data.vocabulary_file is the whole vocabulary");
  expect_contains(error({file, "model.output=adaptive"}), "an order of its own");
  for (const char* text : {"model.cutoffs=[20]", "model.cluster_divisor=2"})
    expect_contains(error({text}), "set model.output = \"adaptive\", or leave them out");
  const auto adaptive = [&](const char* text) { return error({"model.output=adaptive", text}); };
  expect_contains(adaptive("model.experts=3"), "set model.experts = 1 or model.output = \"softmax\"");
  expect_contains(adaptive("model.tied=true"), "set model.tied = false or model.output = \"softmax\"");
  expect_contains(adaptive("model.cutoffs=[20, 20]"),
                  "a cluster from 20 to 20 is to have two symbols or more");
  expect_contains(adaptive("model.cutoffs=[20, 10]"), "give numbers that rise by at least 2");
  expect_contains(adaptive("model.cutoffs=[0]"), "model.cutoffs = [0]");
  expect_contains(adaptive("model.cluster_divisor=0"), "model.cluster_divisor = 0");
  expect_contains(adaptive("model.cluster_divisor=15"),
                  "of 200 units before the output, 200 / 15^2 leaves none");
  expect_contains(adaptive("model.cutoffs=[9, 20, 40, 80]"), "leaves none to the vectors of cluster 4");
  for (const std::string weights : {"input", "recurrent", "output"})
    expect_contains(error({"model." + weights + "_init=orthogonal"}),
                    "model.init_all = 0.1 sets every parameter");
  expect_contains(error({"model.init_all=0", "model.tied=true", "model.output_init=orthogonal"}),
                  "model.output_init");
  expect_contains(error({"train.optimizer=adam", "train.momentum=0.9"}), "train.momentum = 0.9");
  expect_contains(error({"data.strip_lines=true"}), "data.strip_lines");
  expect_contains(error({"data.max_size=1"}), "data.max_size");
  expect_contains(error({"recipe.name=a/b"}), "without '/'");
  for (const std::string rate : {"input_dropout", "hidden_dropout", "output_dropout"})
    EXPECT_NO_THROW(resolve_recipe("zaremba-small",
                                   {setting("model.variational=true"), setting("model." + rate + "=0.1")}));
  EXPECT_NO_THROW(resolve_recipe("zaremba-small", {setting("model.experts=2"), setting("model.tied=true"),
                                                   setting("model.embedding=50")}));
  for (const char* key :
       {"length_deviation", "reset_every", "activation_regularization", "temporal_regularization"})
    for (const char* batching : {"lines", "crops"})
      expect_contains(
          error({fmt::format("train.{}=2", key), fmt::format("data.batching={}", batching)}),
          fmt::format("train.{} = 2 is for data.batching = \"streams\", not \"{}\"", key, batching));
  expect_contains(error({"train.schedule=milestones"}), "train.decay_at");
  expect_contains(error({"train.decay_at=[3]"}), "\"milestones\" belong together");
  expect_contains(error({"train.decay_at=[3, 0]", "train.schedule=milestones"}), "train.decay_at = [3, 0]");
  expect_contains(error({"train.averaging=non_monotonic", "train.non_monotonic_stopping=true"}),
                  "leave one of them out");
  for (const char* optimizer : {"adam", "adamw", "rmsprop"})
    expect_contains(
        error({fmt::format("train.optimizer={}", optimizer), "train.learning_rate=30"}),
        fmt::format("train.learning_rate = 30 with {}, which moves each weight by about that much",
                    optimizer));
  EXPECT_NO_THROW(resolve_recipe("zaremba-small", {setting("train.learning_rate=30")})) << "with sgd";
  EXPECT_NO_THROW(
      resolve_recipe("zaremba-small", {setting("model.tied=true"), setting("train.micro_batch=5")}));
}

TEST(Recipes, ContradictionsNameTheFileAndTheKeyOnce) {
  const auto error = [](const std::string& name, const std::string& text) {
    return error_of([&] { resolve_recipe(name, {setting(text)}); });
  };
  EXPECT_EQ(
      error("attention-multi30k", "data.source_language=en"),
      "attention-multi30k: data.source_language and data.target_language are both \"en\": each text would "
      "be its own translation");
  EXPECT_EQ(error("attention-multi30k", "data.max_size=1"),
            "attention-multi30k: data.max_size = 1 keeps one symbol: nothing to predict; 0 keeps all");
  EXPECT_EQ(
      error("attention-multi30k", "decoding.n_best=6"),
      "attention-multi30k: decoding.n_best = 6: a beam of 5 keeps fewer hypotheses; set beam to 6 or more");
  EXPECT_EQ(error("classify-trec", "data.train_file="),
            "classify-trec: data.train_file is the name of a file: it cannot be empty");
  EXPECT_EQ(
      error("classify-trec", "model.hidden=7"),
      "classify-trec: model.hidden = 7: a bidirectional layer has half of it in each direction; give an "
      "even number");
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

TEST(Recipes, TheLastLayerMayHaveAWidthOfItsOwn) {
  const Recipe recipe = resolve_recipe(
      "zaremba-small",
      {setting("model.hidden=[200, 50]"), setting("model.tied=true"), setting("model.embedding=50")});
  EXPECT_EQ(layer_by_layer(recipe.language_model().model).hidden, (std::vector<int64_t>{200, 50}));
  EXPECT_EQ(layer_by_layer(resolve_recipe("zaremba-small", {}).language_model().model).hidden,
            (std::vector<int64_t>{200, 200}));
}

TEST(Recipes, SettingsReachTheModel) {
  const LanguageModelOptions options =
      model_options(resolve_recipe("zaremba-small", {setting("model.cell=lstm"),
                                                     setting("model.hidden=[30, 40]"),
                                                     setting("model.major_ratio=[0.9, 0.5]"),
                                                     setting("model.minor_input=previous_layer"),
                                                     setting("model.variational=true"),
                                                     setting("model.dropout=0.15"),
                                                     setting("model.recurrent_dropout=0.1"),
                                                     setting("model.zoneout=0.2"),
                                                     setting("model.zoneout_memory=0.3"),
                                                     setting("model.output_layers=[7, 8]"),
                                                     setting("model.output_activation=identity"),
                                                     setting("train.length=9"),
                                                     setting("model.input_dropout=0.25"),
                                                     setting("model.hidden_dropout=0"),
                                                     setting("model.embedding_dropout=0.35"),
                                                     setting("model.weight_drop=0.45"),
                                                     setting("model.experts=3"),
                                                     setting("model.latent_dropout=0.55"),
                                                     setting("model.biases=1"),
                                                     setting("model.forget_bias=0.6"),
                                                     setting("model.embedding=11")})
                        .language_model());
  EXPECT_EQ(options.cell, "lstm");
  EXPECT_EQ(options.hidden, (std::vector<int64_t>{30, 40}));
  EXPECT_EQ(options.major_ratio, (std::vector<double>{0.9, 0.5}));
  EXPECT_EQ(options.minor_input, MinorInput::previous_layer);
  EXPECT_TRUE(options.variational);
  EXPECT_EQ(options.dropout, 0.15);
  EXPECT_EQ(options.input_dropout, 0.25);
  EXPECT_EQ(options.hidden_dropout, 0);
  EXPECT_EQ(options.output_dropout, std::nullopt);
  EXPECT_EQ(options.embedding_dropout, 0.35);
  EXPECT_EQ(options.regularization.weight_drop, 0.45);
  EXPECT_EQ(options.experts, 3);
  EXPECT_EQ(options.latent_dropout, 0.55);
  EXPECT_EQ(options.regularization.dropout, 0.1);
  EXPECT_EQ(options.regularization.zoneout, 0.2);
  EXPECT_EQ(options.regularization.zoneout_memory, 0.3);
  EXPECT_EQ(options.output_layers, (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(options.output_activation, OutputActivation::identity);
  EXPECT_EQ(options.max_time_steps, 9);
  EXPECT_EQ(options.cell_settings.get<GateBiasSettings>().biases, 1);
  EXPECT_EQ(options.cell_settings.get<ForgetGateSettings>().forget_bias, 0.6);
  EXPECT_EQ(options.embedding, 11);
  const auto of_cell = [](const std::string& cell, const std::string& text) {
    return model_options(resolve_recipe("char-lstm", {setting("model.cell=" + cell),
                                                      setting("model.forget_bias=0"), setting(text)})
                             .language_model());
  };
  EXPECT_EQ(of_cell("dts_rnn", "model.transition=[3, 4]").cell_settings.get<TransitionSettings>().transition,
            (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(of_cell("mgru", "model.intermediate=5").cell_settings.get<IntermediateSettings>().intermediate,
            5);
  EXPECT_EQ(of_cell("mi_gru", "model.alpha=2").cell_settings.get<IntegrationSettings>().alpha, 2);
  EXPECT_EQ(of_cell("mi_gru", "model.beta1=3").cell_settings.get<IntegrationSettings>().beta1, 3);
  EXPECT_EQ(of_cell("mi_gru", "model.beta2=4").cell_settings.get<IntegrationSettings>().beta2, 4);
  EXPECT_EQ(of_cell("mi_rnn_simple", "model.integration_bias=5")
                .cell_settings.get<IntegrationBiasSettings>()
                .integration_bias,
            5);
  EXPECT_EQ(of_cell("gru", "model.major_ratio=0.5").minor_input, MinorInput::embedding);
}

TEST(Recipes, SettingsReachTheInitialValues) {
  const LanguageModelOptions options = model_options(
      resolve_recipe("char-lstm", {setting("model.input_init=uniform"), setting("model.input_range=0.2"),
                                   setting("model.recurrent_init=orthogonal"),
                                   setting("model.output_init=log_normal"), setting("model.output_range=2")})
          .language_model());
  EXPECT_EQ(options.input_init.initializer()->kind, Initializer::Kind::uniform);
  EXPECT_EQ(options.input_init.initializer()->size, 0.2);
  EXPECT_EQ(options.recurrent_init.initializer()->kind, Initializer::Kind::orthogonal);
  EXPECT_EQ(options.output_init.initializer()->kind, Initializer::Kind::log_normal);
  EXPECT_EQ(options.output_init.initializer()->mean, 1) << "as torch's log_normal_";
  EXPECT_EQ(options.output_init.initializer()->size, 2);
  EXPECT_FALSE(model_options(load_recipe("char-lstm").language_model()).output_init.initializer())
      << "the layer's own";
}

TEST(Recipes, SettingsReachTheSchedule) {
  const Recipe recipe = resolve_recipe(
      "zaremba-small",
      {setting("train.schedule=milestones"), setting("train.decay_at=[25, 35]"), setting("train.decay=0.1")});
  const ScheduleOptions options = recipe.trainer.schedule;
  EXPECT_EQ(options.decay_at, (std::vector<int64_t>{25, 35}));
  EXPECT_DOUBLE_EQ(Schedule(options, 1).rate(36), 0.01);
}

TEST(Recipes, Listing) {
  const std::string text = output_of_lm({"recipes"});
  for (const auto& [name, ignored] : built_in_recipes()) expect_contains(text, std::string(name));
  expect_contains(text, "published perplexity: valid 85.6, test -");
  const std::string json = output_of_lm({"recipes", "--json"});
  expect_contains(json, "\"valid\": 120.7");
  EXPECT_EQ(json.front(), '{');
}

TEST(Recipes, FitTheTablesOfThePages) {
  for (const auto& [name, text] : built_in_recipes()) {
    const Recipe recipe = load_recipe(std::string(name));
    EXPECT_EQ((recipe.description + recipe.paper).find('|'), std::string::npos) << name << ": ends a cell";
  }
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
