// A saved state that no file holds.
#pragma once

#include <map>
#include <string>

#include "tensor/state.h"

namespace rondo {

class StateInMemory : public StateWriter, public StateReader {
 public:
  void add(const std::string& name, const Tensor& tensor) override { tensors_[name] = clone(tensor); }
  void add(const std::string& name, double number) override { numbers_[name] = number; }
  void add(const std::string& name, int64_t number) override { counts_[name] = number; }
  void read(const std::string& name, const Tensor& to, real) const override { copy(tensors_.at(name), to); }
  void read(const std::string& name, double& number, double) const override { number = numbers_.at(name); }
  void read(const std::string& name, int64_t& number, int64_t least, int64_t most) const override {
    const int64_t kept = counts_.at(name);
    check_input(kept >= least && kept <= most, "{} = {}", name, kept);
    number = kept;
  }

  size_t size() const { return tensors_.size() + numbers_.size() + counts_.size(); }

 private:
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, double> numbers_;
  std::map<std::string, int64_t> counts_;
};

/// `to` becomes what `from` is.
template <class T>
void hand_over(const T& from, T& to) {
  StateInMemory state;
  from.save(state);
  to.load(state);
}

}  // namespace rondo
