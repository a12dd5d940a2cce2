// What a finetuning is: a training that begins with the best model of a finished run, and with other
// settings. Everything else about it is lm/program/train.h. It deliberately writes nothing.
#pragma once

#include <string>
#include <vector>

#include "lm/program/run_folder.h"
#include "lm/program/settings.h"

namespace rondo {

/// The config of a run that finetunes `base`, as Merity et al. 2018, section 4: SGD at a constant rate,
/// averaged over the weights after each step (not those it begins with), until validation is above the
/// lowest of all but its last losses. Published figures become those of the finetuned model. Throws
/// InputError if `base` is no run, has no model or is not finished (saying how to finish it), or one of
/// `settings` is what a trained model cannot change, or what a finetuning decides.
RunConfig finetuning_of(const std::string& base, const std::vector<Setting>& settings);

}  // namespace rondo
