// Module, Parameter and Buffer.
#include "nn/module.h"

#include <algorithm>

namespace rondo {
namespace {
/// The end of a segment, where the next begins: every parameter starts on a cache line.
int64_t end_of(const Segment& segment) {
  constexpr int64_t alignment = 16;
  const int64_t size = segment.shape.rows() * segment.row_stride;
  return segment.offset + (size + alignment - 1) / alignment * alignment;
}
}  // namespace

Module::Module() : parts_(std::make_shared<PartsOfModel>()) {}
Module::Module(Module& parent, std::string name, std::string suffix)
    : parent_(&parent), name_(std::move(name)), suffix_(std::move(suffix)) {}

std::string Module::full_name(const std::string& leaf) const {
  std::string name = leaf + suffix_;
  for (const Module* module = this; module; module = module->parent_)
    if (!module->name_.empty()) name = module->name_ + "." + name;
  return name;
}

const PartsOfModel& Module::whole(const char* asked) const {
  check(parent_ == nullptr, "[{}] is for a whole model, and this is a part of one", asked);
  check(parts_->lost.empty(),
        "[{}] was destroyed before its model: keep its module as long as that, as by a member", parts_->lost);
  return *parts_;
}

void Module::lay_out() {
  const std::vector<Parameter*>& parameters = whole("finalize").parameters;
  check(segments_.empty(), "[finalize] this model is laid out already");
  constexpr int64_t most = int64_t{1} << 50;  // 4 PiB: no sum overflows
  int64_t size = 0;
  for (const Parameter* parameter : parameters) {
    if (parameter->tied_) {  // made later than what it is tied to, which has its segment
      for (Segment& it : segments_)
        if (it.name == parameter->tied_->name_) it.aliases.push_back(parameter->name_);
      continue;
    }
    check_input(size < most, "a model of more than {} parameters: make its layers smaller, or fewer", most);
    segments_.push_back(
        {parameter->name_, {}, parameter->shape_, size, aligned_row_stride(parameter->shape_)});
    size = end_of(segments_.back());
  }
  for (Segment& it : segments_) it.buffer_size = size;
}

void Module::allocate(Device device) {
  check(!values_.defined() || !has_memory(device_), "[allocate] this model has memory already");
  const PartsOfModel& parts = whole("allocate");
  check(parts.parameters.empty() || !segments_.empty(), "[model] call finalize() first");
  const int64_t size = segments_.empty() ? 0 : segments_.front().buffer_size;
  device_ = device;
  values_ = Tensor::zeros({size}, device);
  gradients_ = Tensor::zeros({size}, device);
  auto segment = segments_.begin();
  for (Parameter* parameter : parts.parameters) {
    if (parameter->tied_) {
      parameter->variable_ = parameter->tied_->variable_;
      continue;
    }
    parameter->variable_ = Variable::leaf(part_of(values_, *segment), part_of(gradients_, *segment));
    ++segment;
  }
  for (Buffer* buffer : parts.buffers)
    buffer->tensor_ = Tensor::filled(buffer->shape_, buffer->initial_, device);
}

void Module::finalize(uint64_t seed, double init_all, Device device) {
  check(init_all >= 0, "[finalize] a half width of 0 (none) or more was expected: {}", init_all);
  lay_out();
  allocate(device);
  if (has_memory(device)) draw(seed, init_all);
}

void Module::draw(uint64_t seed, double init_all) {
  for (Parameter* parameter : parts_->parameters) {
    if (parameter->tied_) continue;
    Tensor initial(parameter->shape_);
    const RandomKey key{.seed = seed, .name = hash_of(parameter->name_)};
    const Initializer& own = parameter->initializer_;
    const Initializer every =  // keeps the offset of the forget bias
        uniform_values(init_all).with_offset(own.offset, own.offset_from, own.offset_to);
    (init_all > 0 ? every : own).fill(initial, key);
    copy(initial, parameter->variable_.value());
  }
}

const Tensor& Module::values() const {
  whole("values");
  check(values_.defined(), "[model] call finalize() first");
  return values_;
}
const Tensor& Module::gradients() const {
  static_cast<void>(values());
  return gradients_;
}
const std::vector<Segment>& Module::segments() const {
  static_cast<void>(values());
  return segments_;
}
const std::vector<Buffer*>& Module::buffers() const {
  static_cast<void>(values());
  return parts_->buffers;
}
void Module::begin_gradients() const {
  for (const Parameter* it : whole("begin_gradients").parameters) it->variable().begin_gradient();
}
void Module::complete_gradients() const {
  for (const Parameter* it : whole("complete_gradients").parameters) it->variable().complete_gradient();
}

Tensor Module::range_of(const Tensor& buffer) const {
  const std::vector<Segment>& all = root().segments();
  std::string prefix = full_name("");  // "encoder."; empty for the root
  prefix.resize(prefix.size() - suffix_.size());
  const auto is_own = [&](const Segment& it) { return it.name.starts_with(prefix); };
  const auto first = std::ranges::find_if(all, is_own);
  const auto last = std::find_if_not(first, all.end(), is_own);
  check(first != last, "[{}] has no parameters of its own", prefix);
  check(std::none_of(last, all.end(), is_own), "[{}] other modules' parameters lie between its own", prefix);
  check(buffer.size() == first->buffer_size, "[{}] lies in a buffer of {} numbers, not in one of {}", prefix,
        first->buffer_size, buffer.shape());
  const int64_t begin = first->offset, end = last == all.end() ? buffer.size() : last->offset;
  return buffer.as_strided(begin, {end - begin}, end - begin);
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const Parameter* parameter : root().parts_->parameters)
    if (!parameter->tied_) count += parameter->shape_.size();
  return count;
}

void Module::begin_update(const RandomContext& state) {
  root().random_state_ = state;
  ++root().draw_generation_;
}

RandomKey Module::next_key() {
  const Module& top = root();
  if (drawn_generation_ != top.draw_generation_) {
    drawn_generation_ = top.draw_generation_;
    draws_ = 0;
  }
  return {top.random_state_.seed, hash_of(full_name("")), draws_++, top.random_state_.update};
}

const std::shared_ptr<PartsOfModel>& Module::with_name(const std::string& name) {
  check(!values_.defined(), "[{}] a parameter made after finalize() would not be trained", name);
  check(parts_->names.insert(name).second, "[{}] two parameters of this name", name);
  return parts_;
}

Parameter::Parameter(Module& owner, const std::string& name, Shape shape, Initializer initializer)
    : name_(owner.full_name(name)), shape_(shape), initializer_(initializer) {
  check(shape.size() > 0, "[{}] a parameter of {} holds nothing: give 1 or more of each", name_, shape);
  model_ = owner.root().with_name(name_);
  model_->parameters.push_back(this);
}

Parameter::Parameter(Module& owner, const std::string& name, Parameter& tied)
    : Parameter(owner, name, tied.shape_, tied.initializer_) {
  tied_ = tied.tied_ ? tied.tied_ : &tied;
}

Parameter::~Parameter() {
  std::erase(model_->parameters, this);
  model_->lost = name_;
}

Buffer::Buffer(Module& owner, const std::string& name, Shape shape, real initial, real least)
    : name_(owner.full_name(name)),
      shape_(shape),
      initial_(initial),
      least_(least),
      model_(owner.root().with_name(name_)) {
  model_->buffers.push_back(this);
}

Buffer::~Buffer() {
  std::erase(model_->buffers, this);
  model_->lost = name_;
}

}  // namespace rondo
