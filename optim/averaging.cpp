// The average of weights: see averaging.h.
#include "optim/averaging.h"

#include "optim/updates.h"
#include "tensor/kernels/kernels.h"

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
  check(started() && !in_model_, "[average] {}",
        started() ? "the model has it: no step may be made now" : "not started");
}

void AveragedWeights::update() {
  begin_update();
  launch({});
}

std::span<const std::byte> AveragedWeights::begin_update() {
  check_running();
  ++count_;
  share_ = static_cast<real>(1.0 / static_cast<double>(count_));
  static_assert(sizeof(AverageUpdate) == sizeof share_);
  return std::as_bytes(std::span(&share_, 1));
}

void AveragedWeights::launch(const StepControl& control, const void* numbers) {
  check_running();
  using Numbers = Deferred<AverageUpdate>;
  apply_update(numbers ? Numbers::found_at(static_cast<const AverageUpdate*>(numbers))
                       : Numbers(AverageUpdate{.share = share_}),
               {.stop = control.stop}, {values_, average(), remainder()}, {average(), remainder()});
}

AveragedWeights::Scope::Scope(AveragedWeights& weights) : weights_(weights.started() ? &weights : nullptr) {
  if (!weights_) return;
  check(!weights.in_model_, "[average] the model has it already");
  apply_update(Exchange{}, {weights.values_, weights.average()}, {weights.values_, weights.average()});
  weights.in_model_ = true;
}

AveragedWeights::Scope::~Scope() {
  if (!weights_) return;
  weights_->in_model_ = false;
  try {
    apply_update(Exchange{}, {weights_->values_, weights_->average()},
                 {weights_->values_, weights_->average()});
  } catch (const Error&) {
    // The GPU has failed: that error is being reported, and its memory is lost.
  }
}

const std::vector<NamedTensor>& AveragedWeights::state_tensors() const {
  check(!in_model_, "[average] the model has it: leave the Scope before saving");
  return state_;
}

void AveragedWeights::save(StateWriter& to, const std::vector<Segment>& segments) const {
  for (const NamedTensor& it : state_tensors()) to.add_segments("averaging." + it.name, it.tensor, segments);
  to.add("averaging.count", count_);
}

void AveragedWeights::load(const StateReader& from, const std::vector<Segment>& segments) {
  from.read("averaging.count", count_);
  if (count_ > 0 && state_.empty()) make_memory();
  if (count_ == 0) state_.clear();
  for (const NamedTensor& it : state_tensors())
    from.read_segments("averaging." + it.name, it.tensor, segments);
}

NoisyWeights::NoisyWeights(const Tensor& values, const std::vector<Segment>& segments, double deviation,
                           RandomKey key)
    : values_(values) {
  check(deviation >= 0, "[weight noise] a deviation of 0 or more was expected: {}", deviation);
  if (deviation == 0) return;
  clean_ = clone(values);
  for (const Segment& segment : segments) {
    key.name = hash_of("weight_noise " + segment.name);
    const Tensor from = part_of(clean_, segment), to = part_of(values_, segment);
    launch(to.device(), to.extent(),
           AddNormal{key, static_cast<real>(deviation), from.read_operand(), to.write_operand()});
  }
}

NoisyWeights::~NoisyWeights() {
  if (clean_.defined()) copy(clean_, values_);
}

}  // namespace rondo
