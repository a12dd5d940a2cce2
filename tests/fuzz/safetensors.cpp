// A safetensors file, judged, and written again.
#include "data/files/safetensors.h"

#include <algorithm>

#include "tests/data/files/little_endian.h"
#include "tests/data/files/tensors_in_memory.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

void run_safetensors(std::string_view bytes) {
  const TensorsInMemory content(scratch("a.safetensors", bytes));
  const std::filesystem::path copy = scratch("b.safetensors");
  write_safetensors(copy, content.tensors(), content.metadata);
  const TensorsInMemory again(copy);
  demand(again.entries.size() == content.entries.size(), "other tensors when written again");
  demand(again.values == content.values, "other values when written again");
  for (const TensorEntry& it : content.entries)
    demand(std::ranges::any_of(again.entries,
                               [&](const TensorEntry& other) {
                                 return other.name == it.name && other.dtype == it.dtype &&
                                        other.shape == it.shape;
                               }),
           "another tensor when written again");
  for (const auto& [name, text] : content.metadata)
    demand(again.metadata.at(name) == text || name.find("sha256") != std::string::npos,
           "other metadata when written again");
}

}  // namespace

Target safetensors() {
  const std::string two =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"U8","shape":[],"data_offsets":[8,9]}})";
  return {"safetensors",
          run_safetensors,
          {safetensors_of("{}"), safetensors_of(two, "123456789"),
           safetensors_of(R"({"a":{"dtype":"F64","shape":[0],"data_offsets":[0,0]}})")},
          {safetensors_of("{\"a\":" + std::string(100'000, '['))}};
}

}  // namespace rondo::fuzz
