// Module, Parameter and Buffer: construction registers, finalize() lays all parameters out in one buffer and
// all gradients in another. Clipping, optimizers, averages and checkpoints are one call over a flat buffer;
// names are views into it. It deliberately knows no particular layer. Next: nn/layers/linear.h,
// nn/cells/cell.h, nn/models/language_model.h.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "nn/initializer.h"
#include "tensor/random.h"
#include "tensor/segment.h"

namespace rondo {

class Parameter;
class Buffer;

/// What random numbers of a training step depend on besides the module's name.
struct RandomContext {
  uint64_t seed = 1;
  Deferred<uint64_t> update{};
  BatchSlice slice{};  // which streams of the batch this micro-batch holds
};

/// Modules neither copy nor move: parameters register their address.
class Module {
 public:
  /// The root of a tree.
  Module() = default;
  /// A part of `parent`. The full name of what it holds is parent.name.NAME; an empty name adds nothing.
  /// `suffix` is put behind the names of its own parameters, as PyTorch does for layers (weight_ih_l0).
  Module(Module& parent, std::string name, std::string suffix = "");
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Root only: gives each parameter its place, but no memory: names, shapes and counts are known from then
  /// on. InputError for more parameters than any machine holds.
  void lay_out();
  /// Root only, once, after lay_out(): memory for values and gradients, all zero. For values that come from a
  /// file; else finalize() does it all.
  void allocate(Device device);
  /// Root only, once: lays out, allocates and draws the initial values. With `every` all
  /// parameters are drawn from it instead of what they asked for; a forget bias is still added. Throws Error
  /// if called twice or on a part.
  void finalize(uint64_t seed, const Initializer* every = nullptr, Device device = Device::cpu);

  /// Where the model is computed; known after finalize().
  Device device() const { return root().device_; }

  /// Root only, after finalize(). What lies between segments, and between rows, is zero in both buffers.
  const Tensor& values() const;
  const Tensor& gradients() const;
  /// Root only, after lay_out(): where each parameter lies in a buffer that is laid out like values().
  const std::vector<Segment>& segments() const;
  /// The part of such a buffer that holds the parameters of this module and its parts, as a vector: what an
  /// optimizer is given that trains this module alone. Throws Error if there are none, or others lie between.
  Tensor range_of(const Tensor& buffer) const;
  /// Trained numbers: tied ones once, pads not at all. Known before finalize().
  int64_t parameter_count() const;
  /// Root only: what is saved beside the parameters.
  const std::vector<Buffer*>& buffers() const { return buffers_; }

  /// Training mode switches dropout, and batch normalisation to the statistics of the batch; it is
  /// independent of recording.
  bool training() const { return root().training_; }
  void set_training(bool on) {
    root().training_ = on;
    set_statistics_rate(on ? std::optional(training_statistics_momentum) : std::nullopt);
  }
  /// The share of each batch that goes into the population statistics of batch normalisation, which then
  /// normalises by the batch's own; 0: their plain average. None: it normalises by the population's, and they
  /// stay as they are. set_training() sets it, too.
  std::optional<double> statistics_momentum() const { return root().statistics_rate_; }
  void set_statistics_rate(std::optional<double> rate) { root().statistics_rate_ = rate; }
  static constexpr double training_statistics_momentum = 0.05;  // Cooijmans et al. 2016, their released code
  /// Starts the draws of an update, or of one micro-batch of it.
  void begin_update(const RandomContext& state);

  const std::string& name() const { return name_; }
  std::string full_name(const std::string& leaf) const;

 protected:
  /// A fresh key for a random draw of this module: the same for the same update, whatever the device and
  /// threads.
  RandomKey next_key();
  const RandomContext& random_state() const { return root().random_state_; }

 private:
  friend class Parameter;
  friend class Buffer;
  /// Root only. Throws Error if the model is laid out already, or has a tensor of this name.
  void take_name(const std::string& name);
  const Module& root() const { return parent_ ? parent_->root() : *this; }
  Module& root() { return parent_ ? parent_->root() : *this; }

  Module* parent_ = nullptr;
  std::string name_, suffix_;
  uint32_t draws_ = 0;
  uint64_t drawn_generation_ = ~uint64_t{0};

  // Of the root:
  std::vector<Parameter*> parameters_;
  std::vector<Buffer*> buffers_;
  std::set<std::string> names_;  // of all these
  std::vector<Segment> segments_;
  Device device_ = Device::cpu;
  Tensor values_, gradients_;
  RandomContext random_state_;
  uint64_t draw_generation_ = 0;
  bool training_ = false;
  std::optional<double> statistics_rate_;
};

/// A model in evaluation mode while this lives; then in the mode that it was in.
class EvaluationMode {
 public:
  explicit EvaluationMode(Module& model)
      : model_(model), training_(model.training()), rate_(model.statistics_momentum()) {
    model.set_training(false);
  }
  ~EvaluationMode() {
    model_.set_training(training_);
    model_.set_statistics_rate(rate_);
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Module& model_;
  bool training_;
  std::optional<double> rate_;
};

/// A trained tensor: a name, a shape, an initialiser; after finalize() a Variable.
class Parameter {
 public:
  Parameter(Module& owner, const std::string& name, Shape shape, Initializer initializer);
  /// The values of another parameter under one more name.
  Parameter(Module& owner, const std::string& name, Parameter& tied);
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

  const Shape& shape() const { return shape_; }
  const std::string& name() const { return name_; }
  /// Throws Error before finalize().
  const Variable& variable() const {
    check(variable_.defined(), "[{}] call finalize() on the model before using it", name_);
    return variable_;
  }
  operator const Variable&() const { return variable(); }

 private:
  friend class Module;
  std::string name_;
  Shape shape_;
  Initializer initializer_;
  Parameter* tied_ = nullptr;
  Variable variable_;
};

/// A tensor that is saved with the model but not trained, and no parameter of it: statistics.
class Buffer {
 public:
  /// No element is ever below `least`.
  Buffer(Module& owner, const std::string& name, Shape shape, real initial,
         real least = std::numeric_limits<real>::lowest());
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  /// Throws Error before finalize().
  const Tensor& tensor() const {
    check(tensor_.defined(), "[{}] call finalize() on the model before using it", name_);
    return tensor_;
  }
  real least() const { return least_; }
  /// Back to the initial value.
  void reset() const { fill(tensor(), initial_); }

 private:
  friend class Module;
  std::string name_;
  Shape shape_;
  real initial_, least_;
  Tensor tensor_;
};

}  // namespace rondo
