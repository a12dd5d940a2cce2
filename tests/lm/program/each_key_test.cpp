// Each key of a recipe reaches what it configures: for each there is a value, other than the default, that
// changes what a command does. A recipe contains the structs that the code reads, so that what can go wrong
// is a member that no code reads; hence whole commands are run, and what they print of a setting itself is
// left out of what is compared. Of other tasks than language modelling: the tests of their options.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "data/text/pieces.h"
#include "lm/commands/eval.h"
#include "lm/commands/training.h"
#include "lm/program/recipe.h"
#include "tensor/threads.h"
#include "tests/data/files/tensors_in_memory.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

using Words = std::vector<std::string>;

std::vector<Setting> settings_of(const Words& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  return settings;
}

/// What a command prints on stdout; what it says on stderr is kept from the terminal.
std::string printed_by(const std::function<void()>& command) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto end = [] {
    testing::internal::GetCapturedStderr();
    return testing::internal::GetCapturedStdout();
  };
  try {
    command();
  } catch (...) {
    end();
    throw;
  }
  return end();
}

class EachKey : public testing::Test {
 public:
  EachKey() {
    const auto add = [&](const std::string& file, const std::string& more) {
      write_bytes(data_ / file, bytes_of_file(data_ / file) + more);
    };
    add("data/train.txt", "a rare dog\n  and the cat \n");
    add("data/valid.txt", "a new dog\n");
    write_bytes(data_ / "data/more.txt", "a new cat\n");
    write_bytes(data_ / "tiny.toml", R"(
[model]
embedding = 4
hidden = 4
[train]
epochs = 2
batch = 8
length = 10
learning_rate = 0.03
log_every = 1
)");
  }
  ~EachKey() override { set_threads(threads_); }

  /// The log without its clocks and the rate of the schedule, and what is printed besides figures and times.
  std::string run(TrainOptions options) {
    ++runs_;
    options.out = last_run();
    options.threads = 1;
    std::istringstream lines(printed_by([&] { train(options); }));
    std::string told;
    for (nlohmann::json& entry : log_of(options.out)) {
      entry.erase("learning_rate");
      told += entry.dump() + '\n';
    }
    for (std::string line; std::getline(lines, line);) {
      const bool has_times = line.starts_with("epoch") || line.starts_with("evaluating") ||
                             line.starts_with("valid (best") || line.starts_with("test (best") ||
                             line.starts_with("base model");
      if (!has_times && line.find(options.out) == std::string::npos) told += line + '\n';
    }
    return told;
  }
  std::string trained(const Words& settings) {
    TrainOptions options;
    options.recipe = data_.path("tiny.toml");
    options.settings = settings_of(settings);
    options.data = data_.path("data");
    return run(options);
  }
  /// Of the run that a finetuning makes.
  std::string finetuned(const Words& settings) {
    trained(settings);
    TrainOptions options;
    options.base = last_run();
    return run(options);
  }
  /// A figure of one trained model.
  std::string adapted(const Words& settings) {
    if (model_.empty()) {
      trained({});
      model_ = last_run();
    }
    EvaluateOptions options;
    options.run = model_;
    options.dynamic = options.cache = options.json = true;
    options.settings = settings_of(settings);
    options.threads = 1;
    return nlohmann::json::parse(printed_by([&] { evaluate(options); })).at("nats").dump();
  }
  /// The scores of an exported model that is imported again with no settings but those that the export's
  /// model.py reads, and those of the run; or "refused: " and why.
  std::pair<std::string, std::string> exported(const Words& settings) {
    trained(settings);
    const std::string run = last_run(), out = run + "-out", back = run + "-back",
                      weights = "/model.safetensors";
    const Result result = run_lm({"export", run, "--out", out});
    if (result.status != 0) return {"refused: " + result.err, ""};
    const nlohmann::json config = nlohmann::json::parse(bytes_of_file(out + "/config.json"));
    const nlohmann::json& model = config.at("model");
    const std::map<std::string, std::string> cells{
        {"LSTM", "lstm"}, {"RNN", "rnn"}, {"GRU", "gru_reset_after"}};
    const TensorsInMemory file(out + weights);
    const auto biases = file.values.contains("rnn.bias_ih_l0") + file.values.contains("rnn.bias_hh_l0");
    Words words{"import", out + weights, "--vocab",  out + "/vocab.txt",
                "--out",  back,          "--recipe", empty_recipe()};
    const auto set = [&](const std::string& key, const std::string& value) {
      words.insert(words.end(), {"--set", key + "=" + value});
    };
    set("data.unit", config.at("unit"));
    set("data.strip_lines", config.at("strip_lines").dump());
    set("model.cell", cells.at(model.at("cell")));
    set("model.layers", fmt::format("{}", model.at("hidden").size()));
    set("model.biases", fmt::format("{}", biases));
    set("model.output_activation", model.at("output_activation") == "Tanh" ? "tanh" : "identity");
    if (model.contains("nonlinearity")) set("model.activation", model.at("nonlinearity"));
    for (const std::string key : {"embedding", "hidden", "output_layers", "tied"})
      set("model." + key, model.at(key).dump());
    output_of_lm(words);
    const std::string lines = "the cat sat on the mat\n a rare dog \n";
    return {output_of_lm({"score", back}, lines), output_of_lm({"score", run}, lines)};
  }
  using Probe = std::string (EachKey::*)(const Words&);
  struct Case {
    std::string value;
    Words base{};  // without which the key would have nothing to act on
    Probe shown_by = &EachKey::trained;
    std::string refusal{};  // part of its text, where the value shows by one
  };

  /// Once for each base, which many cases have in common.
  std::string shown_of_base(const Case& it) {
    for (const auto& [probe, base, told] : bases_)
      if (probe == it.shown_by && base == it.base) return told;
    return std::get<2>(bases_.emplace_back(it.shown_by, it.base, shown(it, it.base)));
  }
  std::string shown(const Case& it, const Words& settings) {
    try {
      return (this->*it.shown_by)(settings);
    } catch (const InputError& error) {
      return std::string("refused: ") + error.what();
    }
  }

  using Cases = std::map<std::string, Case>;

 private:
  std::string empty_recipe() const {
    write_bytes(data_ / "empty.toml", "");
    return data_.path("empty.toml");
  }
  std::string last_run() const { return data_.path(fmt::format("run-{}", runs_)); }

  int threads_ = threads();
  CacheFolder cache_;
  SmallData data_;
  int runs_ = 0;
  std::string model_;
  std::vector<std::tuple<Probe, Words, std::string>> bases_;
};

EachKey::Cases language_model_cases() {
  const EachKey::Probe finetuned = &EachKey::finetuned, adapted = &EachKey::adapted;
  const std::string sgd = "train.optimizer=sgd", files = "data.files=[\"train.txt\"]";
  // Evaluations whose loss rises now and then.
  const Words restless = {"train.eval_every=1", "train.learning_rate=0.5"};
  const auto restless_and = [&](Words more) {
    more.insert(more.end(), restless.begin(), restless.end());
    return more;
  };
  const Words finetuning = {sgd, "finetune.epochs=2", "train.epochs=1"};
  return {
      {"data.unit", {"characters"}},
      {"data.strip_lines", {"true", {"data.unit=characters"}}},
      {"data.pieces_model", {"bpe", {"data.unit=pieces", "data.pieces=250"}}},
      {"data.pieces", {"252", {"data.unit=pieces", "data.pieces=250"}}},
      {"data.vocabulary", {"all"}},
      {"data.vocabulary_file", {RONDO_SOURCE_DIR "/tests/lm/program/words.txt"}},
      {"data.min_count", {"2"}},
      {"data.max_size", {"6"}},
      {"data.unknown", {"false", {}, &EachKey::trained, "'new'"}},
      {"data.train_files", {"[\"train.txt\", \"more.txt\"]"}},
      {"data.files", {"[\"train.txt\"]", {"data.block_lines=10"}}},
      {"data.block_lines", {"5", {files, "data.block_lines=10"}}},
      {"data.memory", {"0"}},  // where the ids are is told
      {"data.batching", {"lines"}},
      {"data.evaluated_as", {"stream", {"data.batching=lines"}}},

      {"train.seed", {"2"}},
      {"train.epochs", {"3"}},
      {"train.steps", {"3"}},
      {"train.clip", {"0.1", {sgd}}},
      {"train.weight_noise", {"0.1"}},
      {"train.averaging", {"always"}},
      {"train.averaging_interval", {"100", restless_and({"train.averaging=non_monotonic"})}},
      {"train.early_stopping", {"1", restless}},
      {"train.non_monotonic_stopping", {"true", restless}},
      {"train.optimizer", {"rmsprop"}},
      {"train.learning_rate", {"0.01"}},
      {"train.momentum", {"0.9", {sgd}}},
      {"train.beta1", {"0.5"}},
      {"train.beta2", {"0.5"}},
      {"train.epsilon", {"0.1"}},
      {"train.alpha", {"0.5", {"train.optimizer=rmsprop"}}},
      {"train.initial_squares", {"0.5", {"train.optimizer=adagrad"}}},
      {"train.weight_decay", {"0.1"}},
      {"train.schedule", {"step"}},
      {"train.decay", {"0.1", {"train.schedule=step"}}},
      {"train.decay_after", {"1", {"train.schedule=decay_after"}}},
      {"train.decay_at", {"[2]", {"train.schedule=milestones", "train.decay_at=[1]"}}},
      {"train.decay_every", {"2", {"train.schedule=step"}}},
      {"train.patience", {"1", restless_and({"train.schedule=plateau"})}},
      {"train.batch", {"4"}},
      {"train.length", {"7"}},
      {"train.length_deviation", {"2"}},
      {"train.reset_every", {"1"}},
      {"train.micro_batch", {"4", {"model.cell=bn_lstm"}}},  // elsewhere the result is the same
      {"train.loss", {"sum_over_time"}},
      {"train.activation_regularization", {"2"}},
      {"train.temporal_regularization", {"2"}},
      {"train.eval_streams", {"2"}},
      {"train.final_streams", {"2"}},
      {"train.eval_every", {"5"}},
      {"train.log_every", {"3"}},
      {"train.probe_every", {"1"}},

      {"finetune.learning_rate", {"0.5", finetuning, finetuned}},
      {"finetune.epochs", {"1", finetuning, finetuned}},

      {"report.ngrams", {"true"}},
      {"report.sample", {"20"}},

      {"dynamic.learning_rate", {"0.001", {}, adapted}},
      {"dynamic.decay", {"0.1", {}, adapted}},
      {"dynamic.epsilon", {"0.1", {}, adapted}},
      {"dynamic.length", {"3", {}, adapted}},
      {"dynamic.statistics_streams", {"10", {}, adapted}},
      {"dynamic.style", {"old", {}, adapted}},

      {"cache.window", {"5", {}, adapted}},
      {"cache.theta", {"0.3", {}, adapted}},
      {"cache.lambda", {"0.5", {}, adapted}},
  };
}

/// Section [model], without what only some cells have.
EachKey::Cases cases_of_model() {
  const Words minor = {"model.major_ratio=0.5", "model.layers=2"};
  return {
      {"model.cell", {"gru"}},
      {"model.layers", {"2"}},
      {"model.embedding", {"5"}},
      {"model.embedding_file", {RONDO_SOURCE_DIR "/tests/lm/program/vectors.txt"}},
      {"model.hidden", {"5"}},
      {"model.major_ratio", {"0.5"}},
      {"model.minor_input", {"previous_layer", minor}},
      {"model.bidirectional", {"true", {}, &EachKey::trained, "bidirectional"}},
      {"model.output_layers", {"[5]"}},
      {"model.output_activation", {"identity", {"model.output_layers=[5]"}}},
      {"model.experts", {"2"}},
      {"model.latent_dropout", {"0.5", {"model.experts=2"}}},
      {"model.output", {"adaptive", {"model.hidden=16"}}},
      {"model.cutoffs", {"[2, 5]", {"model.hidden=16", "model.output=adaptive"}}},
      {"model.cluster_divisor", {"2", {"model.hidden=16", "model.output=adaptive"}}},
      {"model.tied", {"true"}},
      {"model.dropout", {"0.5"}},
      {"model.input_dropout", {"0.5"}},
      {"model.hidden_dropout", {"0.5", {"model.layers=2"}}},
      {"model.output_dropout", {"0.5"}},
      {"model.variational", {"true", {"model.dropout=0.3"}}},
      {"model.embedding_dropout", {"0.5"}},
      {"model.weight_drop", {"0.5"}},
      {"model.recurrent_dropout", {"0.5"}},
      {"model.zoneout", {"0.5"}},
      {"model.zoneout_memory", {"0.5"}},
      {"model.input_init", {"uniform"}},
      {"model.input_range", {"0.5", {"model.input_init=uniform"}}},
      {"model.recurrent_init", {"orthogonal"}},
      {"model.recurrent_range", {"0.5", {"model.recurrent_init=normal"}}},
      {"model.output_init", {"log_normal"}},
      {"model.output_range", {"0.5", {"model.output_init=uniform"}}},
      {"model.embedding_init", {"normal"}},
      {"model.embedding_range", {"0.5"}},
      {"model.init_all", {"0.05"}},
      {"model.trained_initial_states", {"true"}},
      {"model.biases", {"1"}},
      {"model.forget_bias", {"1"}},
  };
}

/// Of the settings that only some cells have.
EachKey::Cases cases_of_cells() {
  const auto of_cell = [](const std::string& cell) { return Words{"model.cell=" + cell}; };
  return {
      {"model.activation", {"relu", of_cell("rnn")}},
      {"model.mgu_gate", {"mgu1", of_cell("mgu")}},
      {"model.intermediate", {"3", of_cell("mlstm")}},
      {"model.transition", {"[3]", of_cell("dt_rnn")}},
      {"model.alpha", {"2", of_cell("mi_lstm")}},
      {"model.beta1", {"2", of_cell("mi_lstm")}},
      {"model.beta2", {"2", of_cell("mi_lstm")}},
      {"model.integration_bias", {"2", of_cell("mi_lstm")}},
      {"model.mogrifier_rounds", {"2", of_cell("mogrifier_lstm")}},
      {"model.mogrifier_rank", {"2", of_cell("mogrifier_lstm")}},
      {"model.recurrence_depth", {"2", of_cell("rhn")}},
      {"model.transform_bias", {"0", of_cell("rhn")}},
      {"model.highway_bias", {"1", of_cell("sru")}},
      {"model.window", {"3", of_cell("qrnn")}},
      {"model.fast_cells", {"3", of_cell("fs_lstm")}},
      {"model.slow_units", {"3", of_cell("fs_lstm")}},
  };
}

TEST_F(EachKey, ShowsInWhatACommandDoes) {
  Cases known = language_model_cases();
  known.merge(cases_of_model());
  known.merge(cases_of_cells());
  Recipe recipe;
  for (const Key& key : keys_of(recipe)) {
    if (key.name == "train.save_every") continue;                                         // resume_test.cpp
    if (key.name.starts_with("recipe.") || key.name.starts_with("published.")) continue;  // recipes_test.cpp
    ASSERT_TRUE(known.contains(key.name)) << key.name << " is a new key: say above what shows that it acts";
    const Case it = known.extract(key.name).mapped();
    if (key.name.starts_with("data.pieces") && !has_sentencepiece()) continue;
    const std::string before = shown_of_base(it);
    EXPECT_FALSE(before.starts_with("refused")) << key.name << ", in its base setting " << before;
    Words settings = it.base;
    settings.push_back(key.name + "=" + it.value);
    const std::string after = shown(it, settings);
    EXPECT_TRUE(after != before) << key.name << " = " << it.value << " changes nothing";
    EXPECT_EQ(after.starts_with("refused"), !it.refusal.empty()) << key.name << ": " << after;
    expect_contains(after, it.refusal);
  }
  EXPECT_TRUE(known.empty()) << known.begin()->first << " is no key";
}

// Of sections [data] and [model]: on the others a trained model does not depend.
TEST_F(EachKey, IsExportedOrRefused) {
  Cases known = language_model_cases();
  known.merge(cases_of_model());
  known.insert({"model.activation", {"relu", {"model.cell=rnn"}}});
  for (const auto& [key, it] : known) {
    const bool is_of_model = key.starts_with("model.") || key.starts_with("data.");
    if (!is_of_model || !it.refusal.empty() || (key.starts_with("data.pieces") && !has_sentencepiece()))
      continue;
    Words settings = it.base;
    settings.push_back(key + "=" + it.value);
    const auto [theirs, ours] = exported(settings);
    const bool is_refused = theirs.starts_with("refused");
    EXPECT_TRUE(is_refused || theirs == ours) << key;
    if (is_refused && key != "model.cell" && it.base.empty()) expect_contains(theirs, key + " = ");
  }
}

// Without which the test above would say nothing.
TEST_F(EachKey, NothingElseShows) {
  for (const Probe probe : {&EachKey::trained, &EachKey::finetuned, &EachKey::adapted}) {
    const Words settings = {"train.optimizer=sgd", "finetune.epochs=1"};
    const Case it{"", {}, probe};
    const Words of_evaluation = {"cache.theta=1"};
    const Words& used = probe == Probe(&EachKey::adapted) ? of_evaluation : settings;
    EXPECT_EQ(shown(it, used), shown(it, used));
    EXPECT_FALSE(shown(it, used).starts_with("refused")) << shown(it, used);
  }
}

TEST(EachKeyOfTranslation, TheTokenizationOfBleuIsInItsSignature) {
  const TemporaryFolder folder;
  output_of_lm({"train", "--recipe", "copy-reverse", "--out", folder / "run", "--epochs", "1", "--set",
                "data.generated_pairs=50", "--set", "model.hidden=8"});
  expect_contains(json_of_lm({"eval", folder / "run"}).at("bleu_signature"), "tok:none");
}

}  // namespace
}  // namespace rondo
