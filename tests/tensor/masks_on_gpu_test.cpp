// Masks are integers compared, so the GPU's are the CPU's bit for bit; normal noise is the same up to
// rounding.
#include "tensor/kernels/kernels.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

std::vector<real> mask_on(Device device, int64_t columns, const RandomKey& key, double probability,
                          const BatchSlice& slice) {
  const Tensor mask({6, columns}, device);
  fill_dropout_mask(mask, key, probability, slice);
  return mask.to_vector();
}

TEST(DropoutMasks, AreTheSameBitForBit) {
  NEED_GPU();
  const RandomKey key{42, 7, 3, uint64_t{1} << 40};
  const BatchSlice micro_batch{2, 1, 4}, whole{6, 0, 6}, weight{},
      huge{2, int64_t{1} << 36, int64_t{1} << 37};  // whose elements are numbered beyond 32 bits
  for (const int64_t columns : {1, 3, 64, 257, 1150})
    for (const BatchSlice& slice : {micro_batch, whole, weight, huge})
      for (const double probability : {0.0, 1e-9, 0.4, 0.65, 0.999})
        EXPECT_EQ(mask_on(Device::cuda, columns, key, probability, slice),
                  mask_on(Device::cpu, columns, key, probability, slice))
            << columns << " columns, probability " << probability;
}

TEST(NormalNoise, IsThatOfTheCpu) {
  NEED_GPU();
  for (const int64_t columns : {1, 3, 64, 257, 1150}) {
    const auto noise_on = [&](Device device) {
      const Tensor x = Tensor::filled({6, columns}, 2, device), to({6, columns}, device);
      const RandomKey key{42, 7, 3, uint64_t{1} << 40};
      launch(device, to.extent(), AddNormal{key, real(0.5), x.read_operand(), to.write_operand()});
      return to;
    };
    expect_same(noise_on(Device::cuda), noise_on(Device::cpu), "2 + noise");
  }
}

}  // namespace
}  // namespace rondo
