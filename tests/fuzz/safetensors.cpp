// A safetensors file, judged, and written again.
#include "lm/safetensors.h"

#include <algorithm>
#include <deque>
#include <map>

#include "data/text.h"
#include "tensor/error.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

/// A file with all its values.
struct Content {
  Metadata metadata;
  std::deque<std::vector<std::byte>> values;
  std::map<std::string, TensorBytes> tensors;
};

Content content_of(const std::filesystem::path& path) {
  const Safetensors file(path);
  file.check_values();
  Content content{file.metadata(), {}, {}};
  for (const TensorEntry& it : file.tensors()) {
    content.values.emplace_back(it.size());
    file.read(it, content.values.back());
    content.tensors[it.name] = {it.name, it.dtype, it.shape, content.values.back()};
  }
  return content;
}

bool equal(const TensorBytes& a, const TensorBytes& b) {
  return a.shape == b.shape && a.dtype == b.dtype && std::ranges::equal(a.bytes, b.bytes);
}

void run(std::string_view bytes) {
  const Content content = content_of(scratch("a.safetensors", bytes));
  std::vector<TensorBytes> tensors;
  for (const auto& [name, tensor] : content.tensors) tensors.push_back(tensor);
  const std::filesystem::path copy = scratch("b.safetensors");
  write_safetensors(copy, tensors, content.metadata);
  const Content again = content_of(copy);
  demand(again.tensors.size() == tensors.size(), "other tensors when written again");
  for (const TensorBytes& tensor : tensors)
    demand(equal(tensor, again.tensors.at(tensor.name)), "another tensor when written again");
  for (const auto& [name, text] : content.metadata)
    demand(again.metadata.at(name) == text || name.find("sha256") != std::string::npos,
           "other metadata when written again");
}

/// The file of a header and values.
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
