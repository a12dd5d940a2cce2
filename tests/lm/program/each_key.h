// For tests that each key of a recipe reaches what it configures: small trainings, and what shows of them.
#pragma once

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "data/sentences/parallel_text.h"
#include "data/text/pieces.h"
#include "lm/commands/eval.h"
#include "lm/commands/training.h"
#include "lm/decoding/translate.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/report/run_record.h"
#include "lm/tasks/translation.h"
#include "tensor/threads.h"
#include "tests/lm/program/program.h"

namespace rondo {

using Words = std::vector<std::string>;

inline std::vector<Setting> settings_of(const Words& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  return settings;
}

/// What a command prints on stdout; what it says on stderr is kept from the terminal.
inline std::string printed_by(const std::function<void()>& command) {
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
    write_pairs("train", 24, 1);
    write_pairs("valid", 8, 2);
    write_pairs("test", 8, 3);
    add("data/train.aa", "rare  a b c d e f g h\n");
    add("data/train.bb", "h g f e d c b a rare \n");
    add("data/valid.aa", "a\n");
    add("data/valid.bb", "a.b.c.d.e.a.b.c.d.e.a.b.c.d.e.a.b.c.d.e a\n");  // two words or many
    write_bytes(data_ / "translation.toml", R"(
[recipe]
task = "translation"
[data]
source_language = "aa"
target_language = "bb"
[model]
embedding = 4
hidden = 6
[train]
epochs = 3
batch = 8
learning_rate = 0.03
log_every = 1
[decoding]
max_length = 6
)");
    write_bytes(data_ / "two_tasks.toml", R"(
[recipe]
task = "multi_task"
[tasks.first]
source = "aa"
target = "bb"
[tasks.second]
source = "bb"
target = "bb"
[model]
embedding = 4
hidden = 6
[train]
batch = 8
log_every = 1
)");
  }
  ~EachKey() override { set_threads(threads_); }

  /// The log without its clocks and the rate of the schedule, the times that the state was saved, and
  /// what is printed besides figures and times.
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
                             line.starts_with("valid (best") || line.starts_with("test (best") ||
                             line.starts_with("base model");
      if (!has_times && line.find(options.out) == std::string::npos) told += line + '\n';
    }
    return told;
  }
  std::string trained(const Words& settings) { return trained_by("tiny.toml", settings); }
  std::string trained_by(const std::string& recipe, const Words& settings) {
    TrainOptions options;
    options.recipe = data_.path(recipe);
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
  std::string translator(const Words& settings) { return trained_by("translation.toml", settings); }
  std::string of_two_tasks(const Words& settings) { return trained_by("two_tasks.toml", settings); }
  /// The translations of two sentences by one trained model.
  std::string translated(const Words& settings) {
    if (translator_.empty()) {
      translator({"data.min_count=2"});
      translator_ = last_run();
    }
    OpenTask run = open_task(translator_);
    auto& task = run.task_as<TranslationTask>("translation");
    const Keys keys = keys_of(run.config.recipe);
    for (const Setting& setting : settings_of(settings)) apply_setting(setting, keys);
    const auto& [model, source, target, has_source] = task.translator(*run.model);
    std::string told;
    for (const auto& found :
         translate(model, std::vector<std::vector<int32_t>>{{1, 2, 3, 0}, {4, 2, 0}}, false,
                   {*target.line_end_id(), target.unknown_id()}, task.settings.decoding))
      for (const Hypothesis& it : found) told += fmt::format("{} {}\n", it.score, fmt::join(it.ids, " "));
    return told;
  }
  /// What `lm info` tells of a recipe.
  std::string described(const Words& settings) {
    Words words{"info", "--recipe", data_.path("tiny.toml"), "--vocab-size", "9"};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    const Result result = run_lm(words);
    if (result.status != 0) throw InputError(result.err);
    return result.out.substr(0, result.out.find("computes"));  // with a speed that was measured
  }
  /// What `lm table` shows beside a model of 12 types that was measured on a test text of 100 symbols.
  std::string compared(const Words& settings) {
    RunRecord run;
    run.config.recipe = resolve_recipe(data_.path("tiny.toml"), settings_of(settings));
    run.types = 12;
    run.finished = true;
    KeptMeasurement& test = run.measured[test_kind].emplace();
    test.symbols = 100;
    test.read = run.recipe().task->preferred_reading();
    std::string told = published_json(run.recipe().published).dump();
    for (std::size_t kind = 0; kind < kinds_of_measurement.size(); ++kind)
      told += fmt::format(" {}", run.published(kind));
    return told;
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
  /// Of the settings that only some cells have.
  static Cases cases_of_cells(Probe shown_by);
  /// Tries the case of each key of a recipe of this task, except [recipe] of other tasks than language
  /// modelling, and others that are tried elsewhere.
  void expect_each_shows(const std::string& task, Cases known, const Keys& tried_elsewhere = {},
                         const std::vector<std::string>& parts = {});

 private:
  void write_pairs(const std::string& name, int64_t count, uint64_t seed) const {
    const TextPair pairs = reversal_task(seed, count, {.letters = 5, .max_length = 5});
    write_bytes(data_ / ("data/" + name + ".aa"), pairs.source.content);
    write_bytes(data_ / ("data/" + name + ".bb"), pairs.target.content);
  }
  std::string last_run() const { return data_.path(fmt::format("run-{}", runs_)); }

  int threads_ = threads();
  CacheFolder cache_;
  SmallData data_;
  int runs_ = 0;
  std::string model_, translator_;
  std::vector<std::tuple<Probe, Words, std::string>> bases_;
};

inline EachKey::Cases EachKey::cases_of_cells(Probe shown_by) {
  const auto of_cell = [](const std::string& cell) { return Words{"model.cell=" + cell}; };
  Cases cases = {
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
  for (auto& [key, it] : cases) it.shown_by = shown_by;
  return cases;
}

inline void EachKey::expect_each_shows(const std::string& task, Cases known, const Keys& tried_elsewhere,
                                       const std::vector<std::string>& parts) {
  Recipe recipe;
  recipe.set_task(task);
  for (const std::string& part : parts) recipe.task->add_part(part);
  const auto is_elsewhere = [&](const std::string& name) {
    const auto is_it = [&](const Key& other) { return other.name == name; };
    return (name.starts_with("recipe.") && task != "language_modelling") ||
           std::any_of(tried_elsewhere.begin(), tried_elsewhere.end(), is_it);
  };
  for (const Key& key : keys_of(recipe)) {
    if (is_elsewhere(key.name)) continue;
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

}  // namespace rondo
