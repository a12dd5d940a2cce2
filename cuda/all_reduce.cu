// Sums over GPUs: NCCL, on a stream of its own; or, in a build without it, why there are none.
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

cudaEvent_t make_event() {
  cudaEvent_t event = nullptr;
  check_status(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return event;
}

/// Lets work that is later queued on `waiting` run behind what is queued on `other`.
void let_wait(cudaStream_t waiting, cudaStream_t other, void* event) {
  check_status(cudaEventRecord(static_cast<cudaEvent_t>(event), other), "setting an event");
  check_status(cudaStreamWaitEvent(waiting, static_cast<cudaEvent_t>(event), 0), "waiting for an event");
}

void begin_sum(void* numbers, std::size_t count, ncclDataType_t type, void* communicator, void* its_stream,
               void* numbers_are_ready) {
  check(!recording(), "[cuda] a sum over GPUs cannot be recorded");
  const auto own = static_cast<cudaStream_t>(its_stream);
  let_wait(own, stream(), numbers_are_ready);
  check_nccl(
      ncclAllReduce(numbers, numbers, count, type, ncclSum, static_cast<ncclComm_t>(communicator), own),
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
  cudaStream_t its_stream = nullptr;
  check_status(cudaStreamCreateWithFlags(&its_stream, cudaStreamNonBlocking), "making the stream of sums");
  stream_ = its_stream;
  numbers_are_ready_ = make_event();
  sums_are_ready_ = make_event();
}
AllReduce::~AllReduce() {
  cudaStreamSynchronize(stream());
  cudaStreamSynchronize(static_cast<cudaStream_t>(stream_));
  ncclCommDestroy(static_cast<ncclComm_t>(communicator_));
  for (void* const event : {numbers_are_ready_, sums_are_ready_})
    cudaEventDestroy(static_cast<cudaEvent_t>(event));
  cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

void AllReduce::begin(float* numbers, std::size_t count) const {
  begin_sum(numbers, count, ncclFloat, communicator_, stream_, numbers_are_ready_);
}
void AllReduce::begin(double* numbers, std::size_t count) const {
  begin_sum(numbers, count, ncclDouble, communicator_, stream_, numbers_are_ready_);
}
void AllReduce::end() const { let_wait(stream(), static_cast<cudaStream_t>(stream_), sums_are_ready_); }
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
void AllReduce::begin(float*, std::size_t) const { absent(); }
void AllReduce::begin(double*, std::size_t) const { absent(); }
void AllReduce::end() const { absent(); }
#endif

}  // namespace rondo::cuda
