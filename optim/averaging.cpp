// The average of weights.
#include "optim/averaging.h"

#include <cstring>

#include "optim/apply_update.h"

namespace rondo {

void AveragedWeights::make_memory() {
  for (const char* name : {"average", "average_remainder"})
    state_.push_back({name, Tensor::zeros(values_.shape(), values_.device())});
}

void AveragedWeights::start() {
  check(!started(), "[average] has started already");
  make_memory();
  copy(values_, average());
  count_ = 1;
}

void AveragedWeights::check_running() const {
  check(started() && !in_force_, "[average] {}",
        started() ? "is in force: no step may come now" : "not started");
}

void AveragedWeights::update() {
  AverageUpdate next;
  write_numbers(&next);
  apply_update(next, {values_, average(), remainder()}, {average(), remainder()});
}

void AveragedWeights::write_numbers(void* to) {
  check_running();
  ++count_;
  const AverageUpdate next{.share = static_cast<real>(1.0 / static_cast<double>(count_))};
  std::memcpy(to, &next, sizeof next);
}

void AveragedWeights::launch(const LateNumbers& late) {
  check_running();
  apply_update<AverageUpdate>(late, {values_, average(), remainder()}, {average(), remainder()});
}

AveragedWeights::InForce::InForce(AveragedWeights& weights)
    : weights_(weights.started() ? &weights : nullptr) {
  if (!weights_) return;
  check(!weights.in_force_, "[average] is in force already");
  apply_update(Exchange{}, {weights.values_, weights.average()}, {weights.values_, weights.average()});
  weights.in_force_ = true;
}

AveragedWeights::InForce::~InForce() {
  if (!weights_) return;
  weights_->in_force_ = false;
  try {
    apply_update(Exchange{}, {weights_->values_, weights_->average()},
                 {weights_->values_, weights_->average()});
  } catch (const Error&) {
    // A GPU that has failed: an error is on its way already, and nothing there is left.
  }
}

const std::vector<NamedTensor>& AveragedWeights::state_tensors() const {
  check(!in_force_, "[average] is in force: what is saved now would be the wrong way round");
  return state_;
}

void AveragedWeights::restore(int64_t count) {
  check_input(count >= 0, "an average over {} weights is none", count);
  if (count > 0 && state_.empty()) make_memory();
  if (count == 0) state_.clear();
  count_ = count;
}

}  // namespace rondo
