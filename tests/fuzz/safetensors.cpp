// A safetensors file, judged, and written again.
#include "lm/safetensors.h"

#include <algorithm>

#include "tensor/error.h"
#include "tests/fuzz/target.h"
#include "tests/lm/tensors_in_memory.h"

namespace rondo::fuzz {
namespace {

void run(std::string_view bytes) {
  const TensorsInMemory file(scratch("a.safetensors", bytes));
  size_t size = 0;
  for (const TensorEntry& entry : file.entries) size += entry.size();
  demand(size <= bytes.size(), "more values than the file has");
  const std::filesystem::path copy = scratch("b.safetensors");
  write_safetensors(copy, file.tensors(), file.metadata);
  const TensorsInMemory again(copy);
  demand(again.values == file.values, "other tensors when written again");
  for (const TensorEntry& entry : again.entries) {
    const auto same = [&](const TensorEntry& it) {
      return it.name == entry.name && it.dtype == entry.dtype && it.shape == entry.shape;
    };
    demand(std::ranges::any_of(file.entries, same), "another tensor when written again");
  }
  demand(again.metadata == file.metadata, "other metadata when written again");
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
