// Where and how a command computes.
#include "lm/program/compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "cuda/all_reduce.h"
#include "cuda/runtime.h"
#include "lm/program/terminal.h"
#include "tensor/error.h"
#include "tensor/keys.h"
#include "tensor/products/blas.h"
#include "tensor/products/gemm.h"
#include "tensor/threads.h"

#ifdef RONDO_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace rondo {

// --- Compute ---

Compute choose_device(const ComputeOptions& options) {
  if (options.threads) set_threads(*options.threads);
  const Device device = options.device.value_or(Device::cpu);
  const Precision precision = options.precision.value_or(Precision::fp32);
  if (device == Device::cpu) {
    check_input(precision != Precision::tf32,
                "--precision {} is for a GPU; a CPU computes products in fp32, bf16 or int8",
                name_of(precision));
    take_blas_buffers(threads());  // before the available memory is measured
  } else {
    check_input(precision != Precision::int8,
                "--precision {} is for a CPU; a GPU computes products in fp32, tf32 or bf16",
                name_of(precision));
    const std::string why_not = cuda::unavailable();
    check_input(why_not.empty(), "--device {}: {}; use --device cpu", name_of(device), why_not);
  }
  set_precision(precision);
  return {device, threads(), precision};
}

std::string kernels_text(Precision precision) {
  if (precision == Precision::int8) return name_of(multiplications_of_int8().front());
  if (precision != Precision::bf16)
    return fmt::format("{} and OpenBLAS's {} kernels", name_of(multiplication_of_fp32()), blas_kernel());
  const auto& [fastest, speedup] = fastest_bf16();
  return fmt::format("{}, {}", name_of(fastest),
                     speedup == 1 ? "which is not faster than fp32 on this CPU"
                                  : fmt::format("products {:.1f} times as fast as in fp32", speedup));
}

// --- Ranks over MPI ---

/// Open MPI and MPICH say so in the environment. Without mpirun, MPI is not even initialised, which would
/// take time.
int started_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const count = std::getenv(name)) return std::atoi(count);
  return 1;
}

#ifdef RONDO_MPI
namespace {

class MpiRanks : public Ranks {
 public:
  MpiRanks(int count, int own) : Ranks(count, own) {}
  ~MpiRanks() override {
    gpus_.reset();
    MPI_Finalize();
  }

  void add_up(std::span<float> numbers) override { add_up(numbers, MPI_FLOAT); }
  void add_up(std::span<double> numbers) override { add_up(numbers, MPI_DOUBLE); }

  void use_gpus() override {
    cuda::UniqueId id{};
    if (leads()) id = cuda::make_unique_id();
    send(id);
    gpus_ = std::make_unique<cuda::AllReduce>(id, static_cast<int>(count()), static_cast<int>(own()));
  }

  /// While rank 0 evaluates, the others wait for minutes: they sleep.
  void send(std::span<std::byte> bytes) override {
    MPI_Request request;
    MPI_Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    for (int arrived = 0;;) {
      MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
      if (arrived) return;
      if (steady_clock::now() - begin > milliseconds(20)) std::this_thread::sleep_for(microseconds(500));
    }
  }

 private:
  void begin_on_gpu(real* numbers, std::size_t count) override {
    check(gpus_ != nullptr, "[ranks] use_gpus() comes before the first sum on a GPU");
    gpus_->begin(numbers, count);
  }
  void end_on_gpu() override { gpus_->end(); }
  template <class Number>
  void add_up(std::span<Number> numbers, MPI_Datatype type) {
    // By Open MPI, 24 million numbers of two ranks with shared memory take half as long in such parts as at
    // once: 26 ms, 50 ms. Other networks have not been measured.
    constexpr std::size_t most = 1 << 20;
    for (std::size_t begin = 0; begin < numbers.size(); begin += most)
      MPI_Allreduce(MPI_IN_PLACE, numbers.data() + begin,
                    static_cast<int>(std::min(most, numbers.size() - begin)), type, MPI_SUM, MPI_COMM_WORLD);
  }

  std::unique_ptr<cuda::AllReduce> gpus_;  // null before use_gpus()
};

/// Its number among the ranks of this machine.
int own_on_this_machine() {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  int own = 0;
  MPI_Comm_rank(here, &own);
  MPI_Comm_free(&here);
  return own;
}

}  // namespace

std::unique_ptr<Ranks> meet_ranks() {
  if (started_together() < 2) return nullptr;
  int provided = 0, count = 1, own = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  cuda::use_gpu(own_on_this_machine());
  return std::make_unique<MpiRanks>(count, own);
}

void abort_ranks(int exit_status) {
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // mpirun still forwards what was printed
  MPI_Abort(MPI_COMM_WORLD, exit_status);
  std::abort();  // not reached
}
#else
std::unique_ptr<Ranks> meet_ranks() {
  if (started_together() > 1) throw_built_without("MPI", "a start by mpirun", "libopenmpi-dev openmpi-bin");
  return nullptr;
}

void abort_ranks(int exit_status) { std::exit(exit_status); }
#endif

/// Ends a silent rank. With another status than 0, mpirun would kill the others at once, and the line that
/// says why might be lost.
static Stopped silent_end() { return {0}; }

void prepare_together(Ranks& ranks, const std::function<void()>& prepare) {
  std::exception_ptr error;
  try {
    prepare();
  } catch (const InputError& it) {
    error = ranks.leads()
                ? std::current_exception()
                : std::make_exception_ptr(InputError(fmt::format("rank {}: {}", ranks.own(), it.what())));
  } catch (...) {
    error = std::current_exception();
  }
  std::vector<double> failed(static_cast<std::size_t>(ranks.count()));
  failed[static_cast<std::size_t>(ranks.own())] = error ? 1 : 0;
  ranks.add_up(failed);
  const auto first = std::ranges::find(failed, 1.0);
  if (first - failed.begin() == ranks.own()) std::rethrow_exception(error);
  if (first != failed.end()) throw silent_end();
}

void check_same_digest(Ranks& ranks, const std::string& digest) {
  std::string of_leader = digest;
  ranks.send(std::as_writable_bytes(std::span(of_leader)));
  std::array<double, 1> others = {digest == of_leader ? 0.0 : 1.0};
  ranks.add_up(others);
  if (others[0] > 0 && !ranks.leads()) throw silent_end();
  check_input(
      others[0] == 0,
      "{} of {} ranks have other settings, another text or other weights than rank 0: give all of them "
      "the same command and the same files",
      others[0], ranks.count());
}

}  // namespace rondo
