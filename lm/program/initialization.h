// The settings of `lm train --init-from RUN`: a new training that begins with the best weights of a run, on
// another text with that run's vocabulary. On the same text: lm/program/finetune.h.
#pragma once

#include <string>
#include <vector>

#include "lm/program/run_folder.h"
#include "lm/program/settings.h"

namespace rondo {

/// The settings of a run with the weights and vocabulary of `base`, changed by `settings`. InputError if that
/// has no model, is of a task whose vocabulary cannot be kept, or if a setting would change the model or what
/// its symbols are.
RunConfig initialization_from(const std::string& base, const std::vector<Setting>& settings);

}  // namespace rondo
