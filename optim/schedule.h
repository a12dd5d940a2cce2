// Learning-rate schedules: the rate of each epoch, counted from 1. The training loop passes it to the
// optimizer. Next: optim/early_stopping.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/best_loss.h"
#include "tensor/keys.h"

namespace rondo {

enum class ScheduleKind { constant, step, decay_after, milestones, plateau };
inline std::vector<std::string> names_of(ScheduleKind) {
  return {"constant", "step", "decay_after", "milestones", "plateau"};
}

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::constant;
  double decay = 0.5;               // factor of the rate, [0, 1]
  int64_t decay_every = 1;          // step: epochs between decays
  int64_t decay_after = 0;          // decay_after: epochs before the first decay
  std::vector<int64_t> decay_at{};  // milestones: the epochs after which it decays
  int64_t patience = 0;             // plateau: evaluations without improvement that are tolerated
};
Keys keys_of(ScheduleOptions& options);
/// InputError for settings out of range, and milestones without epochs or epochs without milestones.
void check_options(const ScheduleOptions& options);

/// constant     rate(e) = rate
/// step         rate(e) = rate * decay^floor((e - 1) / decay_every)         PyTorch's StepLR
/// decay_after  rate(e) = rate * decay^max(0, e - decay_after)              Zaremba et al. 2014, section 4.1
/// milestones   rate(e) = rate * decay^(how many of decay_at are below e)   PyTorch's MultiStepLR
/// plateau      rate(e) = rate * decay^n      PyTorch's ReduceLROnPlateau, threshold 0: n grows by one, and
///              the count starts again, when more than `patience` evaluations in a row had no new lowest loss
class Schedule {
 public:
  /// InputErrors of check_options(), and for a rate that is negative or not finite.
  Schedule(const ScheduleOptions& options, double learning_rate);

  /// The rate in an epoch, from 1 on. Throws Error for an epoch before the first.
  double rate(int64_t epoch) const;
  /// Takes the loss of an evaluation, which only a plateau uses.
  void evaluated(double validation_loss);

  void save(StateWriter& to) const;
  void load(const StateReader& from);

 private:
  ScheduleOptions options_;
  double learning_rate_;
  BestLoss best_;
  int64_t decays_ = 0;
};

}  // namespace rondo
