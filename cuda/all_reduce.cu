// Sums over GPUs: NCCL, on the one stream; or, in a build without it, why there are none.
#include "cuda/all_reduce.h"
#include "tensor/error.h"

#ifdef RONDO_NCCL
#include <nccl.h>

#include <cstring>

#include "cuda/runtime.h"
#include "cuda/stream.h"
#endif

namespace rondo::cuda {

#ifdef RONDO_NCCL
namespace {

void check_nccl(ncclResult_t result, const char* what) {
  check(result == ncclSuccess,
        "[cuda] NCCL failed at {}: {}: {}; start one process for each GPU, or use --device cpu", what,
        ncclGetErrorString(result), ncclGetLastError(nullptr));
}

template <class Number>
void all_reduce(void* communicator, Number* numbers, std::size_t count, ncclDataType_t type) {
  check(!recording(), "[cuda] a sum over GPUs cannot be recorded");
  check_nccl(
      ncclAllReduce(numbers, numbers, count, type, ncclSum, static_cast<ncclComm_t>(communicator), stream()),
      "adding up");
}

}  // namespace

std::string why_no_all_reduce() { return ""; }

UniqueId make_unique_id() {
  ncclUniqueId made{};
  check_nccl(ncclGetUniqueId(&made), "making an identifier");
  UniqueId id{};
  static_assert(sizeof made == sizeof id);
  std::memcpy(id.data(), &made, sizeof made);
  return id;
}

AllReduce::AllReduce(const UniqueId& id, int count, int own) {
  ncclUniqueId made{};
  std::memcpy(&made, id.data(), sizeof made);
  ncclComm_t communicator = nullptr;
  check_nccl(ncclCommInitRank(&communicator, count, made, own), "meeting the other processes");
  communicator_ = communicator;
}
AllReduce::~AllReduce() {
  cudaStreamSynchronize(stream());
  ncclCommDestroy(static_cast<ncclComm_t>(communicator_));
}

void AllReduce::operator()(float* numbers, std::size_t count) const {
  all_reduce(communicator_, numbers, count, ncclFloat);
}
void AllReduce::operator()(double* numbers, std::size_t count) const {
  all_reduce(communicator_, numbers, count, ncclDouble);
}
#else
namespace {
[[noreturn]] void absent() { throw Error("[cuda] " + why_no_all_reduce()); }
}  // namespace

std::string why_no_all_reduce() {
  return "this program was built without NCCL: install libnccl-dev and build it again";
}
UniqueId make_unique_id() { absent(); }
AllReduce::AllReduce(const UniqueId&, int, int) { absent(); }
AllReduce::~AllReduce() = default;
void AllReduce::operator()(float*, std::size_t) const { absent(); }
void AllReduce::operator()(double*, std::size_t) const { absent(); }
#endif

}  // namespace rondo::cuda
