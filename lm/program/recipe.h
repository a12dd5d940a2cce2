// A recipe: every setting of a training, with its default. It contains the structs that the code itself
// reads, each with its table of keys (tensor/keys.h); here they become sections. The task brings its own
// (lm/tasks/task.h). Reading and writing: settings.h. Where recipes come from: recipes.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lm/program/published.h"
#include "lm/program/run_options.h"
#include "lm/program/settings.h"
#include "lm/tasks/language_modelling.h"
#include "lm/tasks/registry.h"
#include "lm/training/trainer.h"

namespace rondo {

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

  TrainerOptions trainer;  // section [train], as the next one
  RunOptions run;

  // Of language models alone.
  PublishedFigures published;
  FinetuneOptions finetune;
  ReportOptions report;

  /// Makes this a recipe of another task, whose settings have their defaults.
  void set_task(const std::string& name) {
    task_name = name;
    task = TaskOfRecipe(make_task(name));
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

/// Sets a recipe from the text of a TOML file, which may have `others` as keys as well; a run's, which has a
/// section [made_by], also keys of earlier versions. First its task, on which the keys depend. `where` names
/// the text in InputErrors, which are read_toml()'s.
void read_recipe(Recipe& recipe, const std::string& text, const std::string& where, const Keys& others);

/// InputError if settings contradict each other; `where` (a recipe's name or file) begins the text, which
/// names the keys and a remedy.
void validate(const Recipe& recipe, const std::string& where);

}  // namespace rondo
