// Stands in for NCCL's header on emulated GPUs: what Rondo calls. The processes are those of mpirun.
#pragma once

#include "tests/emulated_gpu/cuda_runtime.h"

enum ncclResult_t { ncclSuccess, ncclUnhandledCudaError, ncclInvalidArgument, ncclInvalidUsage };
enum ncclDataType_t { ncclFloat, ncclDouble };
enum ncclRedOp_t { ncclSum };
struct ncclUniqueId {
  char internal[128];
};
using ncclComm_t = struct EmulatedCommunicator*;

const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t communicator);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int count, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t communicator);
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream);
