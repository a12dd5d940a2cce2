// NCCL on emulated GPUs, each in a process of its own: MPI adds up.
#include "tests/emulated_gpu/nccl.h"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulated_gpu/queue.h"

using namespace rondo::emulated_gpu;

struct EmulatedCommunicator {
  MPI_Comm all;
};

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess              ? "no error"
         : result == ncclUnhandledCudaError ? "unhandled cuda error"
         : result == ncclInvalidArgument    ? "invalid argument"
                                            : "invalid usage";
}

namespace {
std::string last_error;
}
const char* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::snprintf(id->internal, sizeof id->internal, "made by process %d", getpid());
  return ncclSuccess;
}

/// Of processes that have not been given one identifier, NCCL would wait for ever.
ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int count, ncclUniqueId id, int rank) {
  ncclUniqueId of_first = id;
  int processes = 0, own = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Bcast(of_first.internal, sizeof of_first.internal, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (std::string(id.internal) != of_first.internal || id.internal[0] == 0)
    misuse("an identifier of NCCL that the first process did not make");
  if (count != processes || rank != own) return ncclInvalidArgument;
  // The GPU of each: as CUDA_VISIBLE_DEVICES names it, and its number among those.
  std::array<char, 64> gpu{};
  int device = 0;
  cudaGetDevice(&device);
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::snprintf(gpu.data(), gpu.size(), "%s:%d", visible ? visible : "all", device);
  std::vector<std::array<char, 64>> all(static_cast<std::size_t>(count));
  MPI_Allgather(gpu.data(), gpu.size(), MPI_CHAR, all.data(), gpu.size(), MPI_CHAR, MPI_COMM_WORLD);
  if (std::count(all.begin(), all.end(), gpu) > 1) {
    last_error = "Duplicate GPU detected";
    return ncclInvalidUsage;
  }
  *communicator = new EmulatedCommunicator{};
  MPI_Comm_dup(MPI_COMM_WORLD, &(*communicator)->all);
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  MPI_Comm_free(&communicator->all);
  delete communicator;
  return ncclSuccess;
}

/// It adds up floats alone: the emulated GPU is built for the library in float.
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                           ncclComm_t communicator, cudaStream_t stream) {
  if (type != ncclFloat) return ncclInvalidArgument;
  const auto at_first = std::make_shared<std::vector<float>>();  // a real GPU may read them then
  const auto* const numbers = static_cast<const float*>(from);
  cudaError_t queued = enqueue_beside(stream, [=, all = communicator->all] {
    count_launch();
    if (std::memcmp(at_first->data(), numbers, count * sizeof(float)) != 0)
      misuse("a sum of numbers that changed after it began");
    std::vector<float> sums(count);
    MPI_Allreduce(at_first->data(), sums.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, all);
    std::copy(sums.begin(), sums.end(), static_cast<float*>(to));
  });
  if (queued == cudaSuccess) queued = enqueue([=] { at_first->assign(numbers, numbers + count); });
  if (queued != cudaSuccess) last_error = cudaGetErrorString(queued);
  return queued == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
