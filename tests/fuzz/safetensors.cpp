// A safetensors file, judged, and written again.
#include "lm/safetensors.h"

#include <algorithm>

#include "data/text.h"
#include "tensor/error.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

bool equal(const TensorBytes& a, const TensorBytes& b) {
  return a.shape == b.shape && a.dtype == b.dtype && std::ranges::equal(a.bytes, b.bytes);
}

void run(std::string_view bytes) {
  const Safetensors file = Safetensors::read(scratch("a.safetensors", bytes));
  size_t size = 0;
  for (const TensorBytes& tensor : file.tensors()) size += tensor.bytes.size();
  demand(size <= bytes.size(), "more values than the file has");
  const std::filesystem::path copy = scratch("b.safetensors");
  write_safetensors(copy, file.tensors(), file.metadata());
  const Safetensors again = Safetensors::read(copy);
  demand(again.tensors().size() == file.tensors().size(), "other tensors when written again");
  for (const TensorBytes& tensor : file.tensors())
    demand(equal(tensor, again.get(tensor.name)), "another tensor when written again");
  for (const auto& [name, text] : file.metadata())
    demand(again.metadata(name) == text || name.find("sha256") != std::string::npos,
           "other metadata when written again");
}

/// The file without a length of its header that fits.
std::string with_length(const std::string& header, const std::string& values) {
  std::string length(8, '\0');
  for (size_t i = 0; i < 3; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  return length + header + values;
}

}  // namespace

Target safetensors() {
  const std::string two =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"U8","shape":[],"data_offsets":[8,9]}})";
  return {"safetensors",
          run,
          {with_length("{}", ""), with_length(two, "123456789"),
           with_length(R"({"a":{"dtype":"F64","shape":[0],"data_offsets":[0,0]}})", "")},
          {with_length("{\"a\":" + std::string(100'000, '['), "")}};
}

}  // namespace rondo::fuzz
