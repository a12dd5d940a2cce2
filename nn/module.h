// Module, Parameter and Buffer: constructors register parameters; finalize() lays all parameters out in one
// buffer and all gradients in another. So clipping, optimizers, averages and checkpoints each are one call
// over a flat buffer, into which parameters are named views. No particular layer is known here. Next:
// nn/layers/linear.h, nn/cells/cell.h, nn/models/language_model.h.
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
#include "tensor/state.h"

namespace rondo {

class Parameter;
class Buffer;
struct PartsOfModel;

/// What the random numbers of a training step depend on, besides the module's name.
struct RandomContext {
  uint64_t seed = 1;
  Deferred<uint64_t> update{};
  BatchSlice slice{};  // the streams of the batch that are in this micro-batch
};

/// Modules cannot be copied or moved: parameters register their addresses.
class Module {
 public:
  /// The root of a tree.
  Module();
  /// A part of `parent`. The full names of its parameters are parent.name.NAME; an empty name adds nothing.
  /// `suffix` is appended to the names of its own parameters, as PyTorch does for layers (weight_ih_l0).
  Module(Module& parent, std::string name, std::string suffix = "");
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Root only, once, at the end of a model's constructor: gives each parameter its place in the buffers,
  /// allocates these and draws the initial values, unless the device is a meta device: then there are only
  /// names, shapes and counts. With `init_all`, all parameters are drawn from one uniform distribution of
  /// this half width instead of their own initialisers; a forget bias is still added. InputError for more
  /// parameters than any machine can hold; throws Error if called twice or on a part.
  void finalize(uint64_t seed, double init_all = 0, Device device = Device::cpu);
  /// Root only: gives a model on a meta device its memory, all zero, for values that are then read from a
  /// file.
  void allocate(Device device);

  /// The device that computes the model; known after finalize().
  Device device() const { return root().device_; }

  /// Root only, after finalize(); so are segments() and buffers(). Throws Error otherwise, and if a module
  /// with parameters was destroyed before its model. The padding between segments and between rows is zero in
  /// both buffers.
  const Tensor& values() const;
  const Tensor& gradients() const;
  /// Root only, after finalize(): gradients() count as zero from now on, whatever they hold, so that
  /// backward() need not read what it would add to. After the last backward() of the update,
  /// complete_gradients() sets to zero the gradients of what took no part. Shorter, and a pass over the
  /// memory slower, is Optimizer::zero_gradients().
  void begin_gradients() const;
  void complete_gradients() const;
  /// The place of each parameter in a buffer with the layout of values().
  const std::vector<Segment>& segments() const;
  /// The part of such a buffer that holds the parameters of this module and its parts, as a vector: for an
  /// optimizer that trains this module only. Throws Error if there are none, or if other parameters lie
  /// between them.
  Tensor range_of(const Tensor& buffer) const;
  /// The number of trained values: tied parameters count once, padding does not count. Known before
  /// finalize().
  int64_t parameter_count() const;
  /// The buffers that are saved with the parameters.
  const std::vector<Buffer*>& buffers() const;

  /// Training mode switches dropout on, and batch normalisation to the statistics of the batch. It does not
  /// affect the recording of gradients.
  bool training() const { return root().training_; }
  void set_training(bool on) {
    root().training_ = on;
    set_statistics_rate(on ? std::optional(training_statistics_momentum) : std::nullopt);
  }
  /// The momentum of the population statistics of batch normalisation, which then normalises by the
  /// statistics of the batch; 0: the plain average over all batches. None: it normalises by the population
  /// statistics, which do not change. set_training() also sets it.
  std::optional<double> statistics_momentum() const { return root().statistics_rate_; }
  void set_statistics_rate(std::optional<double> rate) { root().statistics_rate_ = rate; }
  static constexpr double training_statistics_momentum = 0.05;  // Cooijmans et al. 2016, their released code
  /// Sets the state of the random numbers for an update, or for one micro-batch of it.
  void begin_update(const RandomContext& state);

  /// The whole model that this is a part of, or is.
  Module& root() { return parent_ ? parent_->root() : *this; }

  const std::string& name() const { return name_; }
  std::string full_name(const std::string& leaf) const;

 protected:
  /// A new key for a random draw of this module: the same for the same update on every device and number of
  /// threads.
  RandomKey next_key();
  const RandomContext& random_state() const { return root().random_state_; }

 private:
  friend class Parameter;
  friend class Buffer;
  /// Throws Error unless this is a root and all its parameters and buffers exist.
  const PartsOfModel& whole(const char* asked) const;
  void lay_out();
  void draw(uint64_t seed, double init_all);
  /// Root only. Throws Error if the model has been laid out, or has a tensor of this name.
  const std::shared_ptr<PartsOfModel>& with_name(const std::string& name);
  const Module& root() const { return parent_ ? parent_->root() : *this; }

  Module* parent_ = nullptr;
  std::string name_, suffix_;
  uint32_t draws_ = 0;
  uint64_t drawn_generation_ = ~uint64_t{0};

  // Of the root:
  std::shared_ptr<PartsOfModel> parts_;
  std::vector<Segment> segments_;
  Device device_ = Device::cpu;
  Tensor values_, gradients_;
  RandomContext random_state_;
  uint64_t draw_generation_ = 0;
  bool training_ = false;
  std::optional<double> statistics_rate_;
};

/// Puts a model into evaluation mode; the destructor restores the previous mode.
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
  /// The same values as another parameter, under a second name.
  Parameter(Module& owner, const std::string& name, Parameter& tied);
  ~Parameter();
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
  /// Rows [begin, end), as a view: one gate of stacked ones.
  Variable rows(int64_t begin, int64_t end) const { return variable().slice(begin, end); }

 private:
  friend class Module;
  std::string name_;
  Shape shape_;
  Initializer initializer_;
  Parameter* tied_ = nullptr;
  Variable variable_;
  std::shared_ptr<PartsOfModel> model_;
};

/// A tensor that is saved with the model but not trained: statistics.
class Buffer {
 public:
  /// No element is ever below `least`.
  Buffer(Module& owner, const std::string& name, Shape shape, real initial,
         real least = std::numeric_limits<real>::lowest());
  ~Buffer();
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
  std::shared_ptr<PartsOfModel> model_;
};

/// The parameters and buffers of a model, which each of them leaves when it is destroyed: whichever of them
/// and the model ends first, nobody follows the address of one that is gone.
struct PartsOfModel {
  std::vector<Parameter*> parameters;
  std::vector<Buffer*> buffers;
  std::set<std::string> names;  // of all of them
  std::string lost;             // one that has left
};

}  // namespace rondo
