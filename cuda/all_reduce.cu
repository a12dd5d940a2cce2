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
  check(result == ncclSuccess, "[cuda] NCCL failed at {}: {}; NCCL_DEBUG=WARN in the environment says more",
        what, ncclGetErrorString(result));
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

MeetingPoint make_meeting_point() {
  ncclUniqueId id{};
  check_nccl(ncclGetUniqueId(&id), "making an identifier");
  MeetingPoint point{};
  static_assert(sizeof id == sizeof point);
  std::memcpy(point.data(), &id, sizeof id);
  return point;
}

AllReduce::AllReduce(const MeetingPoint& point, int count, int own) {
  ncclUniqueId id{};
  std::memcpy(&id, point.data(), sizeof id);
  stream();  // on the GPU that this process uses
  ncclComm_t communicator = nullptr;
  check_nccl(ncclCommInitRank(&communicator, count, id, own), "meeting the other processes");
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

std::string why_no_all_reduce() { return "this program was built without NCCL"; }
MeetingPoint make_meeting_point() { absent(); }
AllReduce::AllReduce(const MeetingPoint&, int, int) { absent(); }
AllReduce::~AllReduce() = default;
void AllReduce::operator()(float*, std::size_t) const { absent(); }
void AllReduce::operator()(double*, std::size_t) const { absent(); }
#endif

}  // namespace rondo::cuda
