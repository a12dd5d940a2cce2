// Weights with noise: see weight_noise.h.
#include "optim/weight_noise.h"

#include "tensor/kernels/kernels.h"

namespace rondo {

NoisyWeights::NoisyWeights(const Tensor& values, const std::vector<Segment>& segments, double deviation,
                           RandomKey key)
    : values_(values) {
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
