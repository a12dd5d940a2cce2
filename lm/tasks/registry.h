// The tasks, by the name that recipe.task has. Next: lm/tasks/task.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lm/tasks/task.h"

namespace rondo {

/// A name, and what makes the task with its default settings.
struct RegisteredTask {
  std::string name;
  std::function<std::unique_ptr<Task>()> make;
};
/// All tasks; programs may add their own.
std::vector<RegisteredTask>& registered_tasks();

/// Throws InputError for an unknown name, which lists the known ones.
std::unique_ptr<Task> make_task(const std::string& name);

}  // namespace rondo
