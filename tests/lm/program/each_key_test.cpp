// Each key of a recipe reaches what it configures: for each there is a value, other than the default, that
// changes what a command does. A recipe contains the structs that the code reads, so that what can go wrong
// is a member that no code reads; hence whole commands are run, and what they print of a setting itself is
// left out of what is compared.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lm/program/evaluate.h"
#include "lm/program/info.h"
#include "lm/program/measured_runs.h"
#include "lm/program/published.h"
#include "lm/program/recipes.h"
#include "lm/program/train.h"
#include "tensor/threads.h"
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

/// Counts how often state.safetensors is written into a folder that is there.
class Saves {
 public:
  explicit Saves(const std::filesystem::path& folder) {
    // Files are written beside and renamed; without what lies between them, renamings would be told as one.
    EXPECT_GE(inotify_add_watch(events_, folder.c_str(), IN_CREATE | IN_MOVED_TO), 0);
  }
  ~Saves() { close(events_); }
  Saves(const Saves&) = delete;
  Saves& operator=(const Saves&) = delete;

  int count() const {
    int saves = 0;
    alignas(inotify_event) std::array<char, 1 << 16> buffer{};
    for (ssize_t size = 0; (size = read(events_, buffer.data(), buffer.size())) > 0;)
      for (const char* at = buffer.data(); at < buffer.data() + size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(at);
        saves += (event->mask & IN_MOVED_TO) != 0 && std::string(event->name) == "state.safetensors";
        at += sizeof(inotify_event) + event->len;
      }
    return saves;
  }

 private:
  int events_ = inotify_init1(IN_NONBLOCK);
};

class EachKey : public testing::Test {
 public:
  EachKey() {
    const auto add = [&](const std::string& file, const std::string& more) {
      write_bytes(data_ / file, bytes_of_file(data_ / file) + more);
    };
    add("data/train.txt", "a rare dog\n  and the cat \n");
    add("data/valid.txt", "a new dog\n");
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

  /// The log without its clocks and the rate of the schedule, the times that the state was saved, and what is
  /// printed besides figures and times.
  std::string run(TrainOptions options) {
    ++runs_;
    options.out = last_run();
    options.threads = 1;
    std::filesystem::create_directory(options.out);
    const Saves saves(options.out);
    std::istringstream lines(printed_by([&] { train(options); }));
    std::string told;
    for (nlohmann::json& entry : log_of(options.out)) {
      entry.erase("learning_rate");
      told += entry.dump() + '\n';
    }
    told += fmt::format("{} saves\n", saves.count());
    for (std::string line; std::getline(lines, line);) {
      const bool has_times = line.starts_with("epoch") || line.starts_with("evaluating") ||
                             line.starts_with("best model") || line.starts_with("base model");
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
  /// What `lm info` tells of a recipe.
  std::string described(const Words& settings) {
    InfoOptions options;
    options.recipe = data_.path("tiny.toml");
    options.settings = settings_of(settings);
    options.vocabulary_size = 9;
    return printed_by([&] { info(options); });
  }
  /// What `lm table` shows beside a model of 12 types that was measured on a test text of 100 symbols.
  std::string compared(const Words& settings) {
    MeasuredRun row;
    row.config.recipe = resolve_recipe(data_.path("tiny.toml"), settings_of(settings));
    row.types = 12;
    Measured measured;
    measured.symbols = 100;
    measured.read = published_reading(row.recipe());
    row.test() = measured;
    std::string told = published_json(row.recipe().published).dump();
    for (const MeasurementKind& kind : kinds_of_measurement)
      told += fmt::format(" {}", row.published(kind, kind.is_plain() ? row.test() : std::nullopt));
    return told;
  }

  using Probe = std::string (EachKey::*)(const Words&);
  struct Case {
    std::string value;
    Words base{};  // without which the key would have nothing to act on
    Probe shown_by = &EachKey::trained;
    std::string refusal{};  // part of its text, where the value shows by one
  };

  std::string shown(const Case& it, const Words& settings) {
    try {
      return (this->*it.shown_by)(settings);
    } catch (const InputError& error) {
      return std::string("refused: ") + error.what();
    }
  }

  static std::map<std::string, Case> cases();
  static std::map<std::string, Case> cases_of_model();

 private:
  std::string last_run() const { return data_.path(fmt::format("run-{}", runs_)); }

  int threads_ = threads();
  SmallData data_;
  int runs_ = 0;
  std::string model_;
};

std::map<std::string, EachKey::Case> EachKey::cases() {
  const Probe compared = &EachKey::compared, described = &EachKey::described, finetuned = &EachKey::finetuned,
              adapted = &EachKey::adapted;
  const std::string sgd = "train.optimizer=sgd", files = "data.files=[\"train.txt\"]";
  const Words published = {"published.valid=5", "published.test=5"};
  // Evaluations whose loss rises now and then.
  const Words restless = {"train.eval_every=1", "train.learning_rate=0.5"};
  const auto restless_and = [&](Words more) {
    more.insert(more.end(), restless.begin(), restless.end());
    return more;
  };
  const Words finetuning = {sgd, "finetune.epochs=2", "train.epochs=1"};
  return {
      {"recipe.name", {"other", {}, described}},
      {"recipe.description", {"other", {}, described}},
      {"recipe.paper", {"other", {}, described}},

      {"published.valid", {"7", {}, compared}},
      {"published.test", {"7", {}, compared}},
      {"published.unit", {"bits", published, compared}},
      {"published.finetuned_valid", {"7", {}, compared}},
      {"published.finetuned_test", {"7", {}, compared}},
      {"published.dynamic_valid", {"7", {}, compared}},
      {"published.dynamic_test", {"7", {}, compared}},
      {"published.cache_valid", {"7", {}, compared}},
      {"published.cache_test", {"7", {}, compared}},
      {"published.vocabulary", {"11", published, compared}},
      {"published.test_symbols", {"50", published, compared}},

      {"data.unit", {"characters"}},
      {"data.strip_lines", {"true", {"data.unit=characters"}}},
      {"data.pieces_model", {"bpe", {"data.unit=pieces", "data.pieces=250"}}},
      {"data.pieces", {"252", {"data.unit=pieces", "data.pieces=250"}}},
      {"data.vocabulary", {"all"}},
      {"data.min_count", {"2"}},
      {"data.max_size", {"6"}},
      {"data.unknown", {"false", {}, &EachKey::trained, "'new'"}},
      {"data.files", {"[\"train.txt\"]", {"data.block_lines=10"}}},
      {"data.block_lines", {"5", {files, "data.block_lines=10"}}},
      {"data.batching", {"lines"}},
      {"data.evaluated_as", {"stream", {"data.batching=lines"}}},

      {"train.seed", {"2"}},
      {"train.epochs", {"3"}},
      {"train.clip", {"0.1", {sgd}}},
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
      {"train.save_every", {"1e-9", {"train.save_every=0"}}},

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

/// Section [model], and of it what cells have.
std::map<std::string, EachKey::Case> EachKey::cases_of_model() {
  const auto of_cell = [](const std::string& cell) { return Words{"model.cell=" + cell}; };
  const Words minor = {"model.major_ratio=0.5", "model.layers=2"};
  return {
      {"model.cell", {"gru"}},
      {"model.layers", {"2"}},
      {"model.embedding", {"5"}},
      {"model.hidden", {"5"}},
      {"model.major_ratio", {"0.5"}},
      {"model.minor_input", {"previous_layer", minor}},
      {"model.bidirectional", {"true", {}, &EachKey::trained, "bidirectional"}},
      {"model.output_layers", {"[5]"}},
      {"model.output_activation", {"identity", {"model.output_layers=[5]"}}},
      {"model.experts", {"2"}},
      {"model.latent_dropout", {"0.5", {"model.experts=2"}}},
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
      {"model.embedding_range", {"0.5"}},
      {"model.init_all", {"0.05"}},
      {"model.biases", {"1"}},
      {"model.forget_bias", {"1"}},
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
  std::map<std::string, Case> known = cases();
  known.merge(cases_of_model());
  Recipe recipe;
  for (const Key& key : keys_of(recipe)) {
    ASSERT_TRUE(known.contains(key.name)) << key.name << " is a new key: say above what shows that it acts";
    const Case it = known.extract(key.name).mapped();
    if (key.name.starts_with("data.pieces") && !has_sentencepiece()) continue;
    const std::string before = shown(it, it.base);
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

// Without which the test above would say nothing.
TEST_F(EachKey, NothingElseShows) {
  for (const Probe probe :
       {&EachKey::trained, &EachKey::finetuned, &EachKey::adapted, &EachKey::described, &EachKey::compared}) {
    const Words settings = {"train.optimizer=sgd", "finetune.epochs=1"};
    const Case it{"", {}, probe};
    const Words of_evaluation = {"cache.theta=1"};
    const Words& used = probe == Probe(&EachKey::adapted) ? of_evaluation : settings;
    EXPECT_EQ(shown(it, used), shown(it, used));
    EXPECT_FALSE(shown(it, used).starts_with("refused")) << shown(it, used);
  }
}

}  // namespace
}  // namespace rondo
