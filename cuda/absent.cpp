// The GPU in a build without CUDA: unavailable. Requests for it are refused before anything here that
// needs one is called.
#include "cuda/all_reduce.h"
#include "cuda/products.h"
#include "cuda/runtime.h"
#include "tensor/error.h"

namespace rondo::cuda {
namespace {
[[noreturn]] void absent() { throw Error("[cuda] " + unavailable() + "; use --device cpu"); }
}  // namespace

std::string unavailable() { return "this program was built without CUDA"; }
std::string description() { absent(); }
void use_gpu(int) {}  // there is none to choose
void* system_block(std::size_t) { absent(); }
void free_system_block(void*) { absent(); }
Memory memory() { absent(); }
void* pinned_block(std::size_t) { absent(); }
void free_pinned_block(void*) { absent(); }
void poison_if_asked(void*, std::size_t) { absent(); }
void upload_pinned(void*, const void*, std::size_t) { absent(); }
void upload(void*, const void*, std::size_t) { absent(); }
void download(void*, const void*, std::size_t) { absent(); }
void synchronize() { absent(); }
Fence::Fence() { absent(); }
Fence::~Fence() = default;
void Fence::set() { absent(); }
void Fence::wait() const { absent(); }
Graph::Graph(const std::function<void()>&) { absent(); }
Graph::~Graph() = default;
void Graph::launch() const { absent(); }
bool recording() { absent(); }
GraphOrder graph_order() { return GraphOrder::chain; }  // asked wherever there might be a GPU
std::int64_t launches() { absent(); }
void set_product_precision(Precision) {}  // it is set for all devices, whether there is a GPU or not
void gemm(const ProductSize&, Matrix<const float>, Matrix<const float>, Matrix<const float>, Matrix<float>) {
  absent();
}
void gemm(const ProductSize&, Matrix<const double>, Matrix<const double>, Matrix<const double>,
          Matrix<double>) {
  absent();
}
void gemm(const ProductSize&, Matrix<const Bf16>, Matrix<const Bf16>, Matrix<const float>, Matrix<float>) {
  absent();
}
std::string why_no_all_reduce() { return unavailable(); }
UniqueId make_unique_id() { absent(); }
AllReduce::AllReduce(const UniqueId&, int, int) { absent(); }
AllReduce::~AllReduce() = default;
void AllReduce::begin(float*, std::size_t) const { absent(); }
void AllReduce::begin(double*, std::size_t) const { absent(); }
void AllReduce::end() const { absent(); }

}  // namespace rondo::cuda
