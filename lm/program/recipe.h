// A recipe: every setting of a training, with its default. It contains the structs that the code itself
// reads, each with its table of keys (tensor/keys.h); here they become sections. The task brings its own
// (lm/tasks/task.h). Reading and writing TOML: lm/settings/settings.h.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/settings/settings.h"
#include "lm/tasks/language_modelling.h"
#include "lm/tasks/task.h"
#include "lm/training/trainer.h"
#include "tensor/keys.h"

namespace rondo {

// --- Published ---
// The figures that a paper reports for a recipe's model: the recipe's section [published], and where they
// are shown beside measured figures.

struct Recipe;

enum class PublishedUnit { perplexity, bits, nats };  // bits and nats are per symbol
inline std::vector<std::string> names_of(PublishedUnit) { return {"perplexity", "bits", "nats"}; }

/// 0 where the paper has no figure.
struct PublishedFigures {
  struct Splits {
    double valid = 0, test = 0;
  };
  Splits trained{}, finetuned{}, dynamic{}, cache{};
  PublishedUnit unit = PublishedUnit::perplexity;
  std::int64_t vocabulary = 0, test_symbols = 0;  // of the paper's text; 0: not known
};
inline Keys keys_of(PublishedFigures& it) {
  return {
      {"valid", &it.trained.valid, at_least(0), "", "the paper's figure on valid.txt; 0: none"},
      {"test", &it.trained.test, at_least(0), "", "the paper's figure on test.txt; 0: none"},
      {"unit", choice(it.unit), "the unit of the published figures; bits and nats are per symbol"},
      {"finetuned_valid", &it.finetuned.valid, at_least(0), "",
       "the same as published.valid, of the model that `lm finetune` makes"},
      {"finetuned_test", &it.finetuned.test, at_least(0), "", "the same on test.txt"},
      {"dynamic_valid", &it.dynamic.valid, at_least(0), "",
       "the same as published.valid, with dynamic evaluation of the paper's best model"},
      {"dynamic_test", &it.dynamic.test, at_least(0), "", "the same on test.txt"},
      {"cache_valid", &it.cache.valid, at_least(0), "",
       "the same as published.valid, with a neural cache over the paper's best model"},
      {"cache_test", &it.cache.test, at_least(0), "", "the same on test.txt"},
      {"vocabulary", &it.vocabulary, at_least(0), "symbols",
       "number of types in the paper's text; for a text with another number, no published figure "
       "is shown; 0: not known"},
      {"test_symbols", &it.test_symbols, at_least(0), "symbols",
       "the same, for the length of the paper's test text"},
  };
}

/// The paper's figure on a split, "valid" or "test", for a model that is finetuned or not and adapts to the
/// text or not; 0: none. Figures with adaptation are those of the finetuned model if the paper has one. (In
/// the recipe of a finetuned run, the finetuned figures replace those of the trained model.)
double published_figure(const PublishedFigures& published, bool finetuned, const std::string& split,
                        bool dynamic, bool cache);
/// The unit in which a task's loss is usually given: of a text of words its perplexity, of another one bits.
PublishedUnit usual_unit(const Task& task);
/// Whether every finetuning gives this key a value of its own.
bool is_decided_by_finetuning(const std::string& key);
/// The keys of model, training and text that differ from those of the built-in recipe of this name; none if
/// there is no such recipe. Keys that leave the trained model as it is do not count, such as the seed; of a
/// finetuning, what it decides itself does not. With a change, published figures are not those of this run.
std::vector<std::string> changed_keys(const Recipe& recipe, bool finetuned);

/// {"valid", "test", "unit"}, null where the paper has no figure; and, if the paper has them, "finetuned",
/// "dynamic" and "cache", each {"valid", "test"}.
nlohmann::ordered_json published_json(const PublishedFigures& published);

/// "perplexity: valid 60.7, test 58.8; finetuned 60, 57.3", or an empty string.
std::string published_text(const PublishedFigures& published);

// --- Run options ---
// Settings of the program around a training: how often `lm train` evaluates, logs and saves, what it prints
// at the end, and the settings of `lm finetune`.

struct RunOptions {
  std::int64_t eval_every = 0, log_every = 100;  // steps
  std::int64_t probe_every = 0;                  // epochs
  double save_every = 5;                         // minutes
};
inline Keys keys_of(RunOptions& options) {
  return {
      {"eval_every", &options.eval_every, at_least(0), "steps",
       "between evaluations, besides the one after each epoch; 0: only that one"},
      {"log_every", &options.log_every, any_count(), "steps", "between lines of log.jsonl"},
      {"probe_every", &options.probe_every, at_least(0), "epochs",
       "between looks into the recurrent layers, which log.jsonl keeps, the first one before the training: "
       "see `lm probe`; 0: none"},
      {"save_every", &options.save_every, at_least(0), "minutes",
       "between saved states, besides the one after each evaluation; 0: only that one"},
  };
}

struct ReportOptions {
  bool ngrams = false;
  std::int64_t sample = 0;  // symbols
};
inline Keys keys_of(ReportOptions& options) {
  return {
      {"ngrams", &options.ngrams,
       "after training, print the cross-entropy of a Kneser-Ney model of order 5 beside the model's"},
      {"sample", &options.sample, at_least(0), "symbols", "to sample and print after training"},
  };
}

struct FinetuneOptions {
  std::optional<double> learning_rate{};  // none: that of the training, if it used SGD
  std::int64_t epochs = 100;
};
inline Keys keys_of(FinetuneOptions& options) {
  return {
      {"learning_rate", &options.learning_rate, at_least(0), "",
       "of the averaged SGD of `lm finetune`; -1: train.learning_rate, if train.optimizer is sgd"},
      {"epochs", &options.epochs, any_count(), "epochs",
       "maximum for `lm finetune`, which train.non_monotonic_stopping ends earlier"},
  };
}

// --- Recipe ---

/// A task that is copied with its settings, and without its data.
class TaskOfRecipe {
 public:
  explicit TaskOfRecipe(std::unique_ptr<Task> task) : task_(std::move(task)) {}
  TaskOfRecipe(const TaskOfRecipe& other) : task_(other.task_->clone()) {}
  TaskOfRecipe(TaskOfRecipe&&) = default;
  TaskOfRecipe& operator=(TaskOfRecipe other) {
    task_ = std::move(other.task_);
    return *this;
  }
  ~TaskOfRecipe() = default;

  Task& operator*() const { return *task_; }
  Task* operator->() const { return task_.get(); }

 private:
  std::unique_ptr<Task> task_;
};

struct Recipe {
  std::string name, description, paper;
  std::string task_name = "language_modelling";
  TaskOfRecipe task{make_task(task_name)};  // what is trained, with the sections of its own

  /// For how many parameters fit_width() chooses model.hidden; 0: it is given. Not a key: a run records the
  /// width.
  std::int64_t fitted_parameters = 0;

  TrainerOptions trainer;  // section [train], as the next one
  RunOptions run;

  // Of language models alone.
  PublishedFigures published;
  FinetuneOptions finetune;
  ReportOptions report;

  /// Makes this a recipe of another task, whose settings have their defaults.
  void set_task(const std::string& chosen) {
    task_name = chosen;
    task = TaskOfRecipe(make_task(chosen));
  }
  /// The task, if it is language modelling; else null.
  LanguageModellingTask* language_modelling() const { return dynamic_cast<LanguageModellingTask*>(&*task); }
  /// The settings of a language model. Error if the task is another one.
  LanguageModellingSettings& language_model() const {
    return dynamic_cast<LanguageModellingTask&>(*task).settings;
  }
};

/// Every key of a recipe, bound to the members of `recipe`.
Keys keys_of(Recipe& recipe);

/// Sets a recipe from the text of a TOML file, which may have `others` as keys as well: first its task, on
/// which the keys depend. `where` names the text in InputErrors, which are read_toml()'s.
void read_recipe(Recipe& recipe, const std::string& text, const std::string& where, const Keys& others);

/// Throws InputError if settings contradict each other; `where` (a recipe's name or file) begins the text,
/// which names the keys and a remedy.
void validate(const Recipe& recipe, const std::string& where);

// --- Recipes ---
// Where recipes come from: the ones built into the program (lm/program/recipes/*.toml), files, and the
// command line.

/// A built-in recipe: its name and the text of its file.
struct BuiltInRecipe {
  std::string_view name, text;
};
std::vector<BuiltInRecipe> built_in_recipes();

/// The recipe that `name_or_file` names: a built-in one, or a TOML file (also a run's config.toml). A recipe
/// without recipe.name gets the name of its file. InputErrors: no such recipe (naming the nearest), bad file,
/// bad value.
Recipe load_recipe(const std::string& name_or_file);

/// The recipe of a run: loads the recipe, applies `settings` in order, so that the last one wins, and calls
/// validate(). Files that it names are absolute, so that a later command finds them from any folder.
Recipe resolve_recipe(const std::string& name_or_file, const std::vector<Setting>& settings);
/// Does the same with a recipe that load_recipe(name_or_file) has returned.
Recipe resolve_recipe(Recipe recipe, const std::string& name_or_file, const std::vector<Setting>& settings);
/// The setting that fit_width() chooses.
inline const std::string width_key = "model.hidden";
/// Applies a setting to a recipe with these keys, as apply_setting() does. Instead of a width there may be
/// model.hidden=fit:2.1M, which fit_width() replaces by one. Returns the key.
const Key& set_in(Recipe& recipe, const Keys& keys, const Setting& setting);
/// Sets model.hidden to the width whose number of parameters is nearest to the one asked for, if one is.
/// `sizes` are the task's. InputError if the number is outside of those of possible widths.
void fit_width(Recipe& recipe, const Sizes& sizes);
/// If the settings, which have been applied, say after how many epochs the training ends, it does not end
/// after the steps that the recipe had before; but settings of train.steps come first.
void let_given_epochs_end(Recipe& recipe, const std::vector<Setting>& settings);

}  // namespace rondo
