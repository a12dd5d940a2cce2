// Masks are integers compared, so the GPU's are the CPU's bit for bit.
#include "tensor/random.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

TEST(DropoutMasks, AreTheSameBitForBit) {
  NEED_GPU();
  for (const int64_t columns : {1, 3, 64, 1150}) {
    const BatchSlice slice{2, 1, 4};
    const RandomKey key{42, 7, 3, uint64_t{1} << 40};
    const Tensor on_cpu({6, columns}), on_gpu({6, columns}, Device::cuda);
    fill_dropout_mask(on_cpu, key, 0.4, slice);
    fill_dropout_mask(on_gpu, key, 0.4, slice);
    EXPECT_EQ(on_gpu.to_vector(), on_cpu.to_vector()) << columns;
  }
}

}  // namespace
}  // namespace rondo
