// The settings of a finetuning: a training that begins with the best model of a finished run and has other
// settings. The training itself: lm/program/train.h.
#pragma once

#include <string>
#include <vector>

#include "lm/program/run_folder.h"
#include "lm/program/settings.h"

namespace rondo {

/// The config of a run that finetunes `base`, as in Merity et al. 2018, section 4: SGD at a constant rate,
/// averaging the weights after each step (without the initial weights), until the non-monotonic criterion
/// (optim/non_monotonic.h) stops it. Its published figures are those of the finetuned model. InputError if
/// `base` is not a run, has no model or is not finished (saying how to finish it), or for a setting that a
/// trained model cannot change or that finetuning determines.
RunConfig finetuning_of(const std::string& base, const std::vector<Setting>& settings);
/// Whether every finetuning gives this key a value of its own.
bool is_decided_by_finetuning(const std::string& key);

}  // namespace rondo
