// Model and training state in files.
#include "lm/checkpoint.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace rondo {
namespace {

constexpr const char* real_name = sizeof(real) == 4 ? "F32" : "F64";

std::vector<int64_t> extents(const Shape& shape) {
  std::vector<int64_t> result;
  for (int i = 0; i < shape.dimensions(); ++i) result.push_back(shape[i]);
  return result;
}

/// With its rows side by side.
Tensor on_host(const Tensor& x) { return contiguous(x.to(Device::cpu)); }

/// The tensor must lie on the host, be contiguous and outlive the bytes.
TensorBytes as_bytes(const std::string& name, const Tensor& tensor) {
  check(tensor.contiguous() && tensor.device() == Device::cpu, "[save] {} is not contiguous on the host",
        name);
  return {name, real_name, extents(tensor.shape()),
          std::as_bytes(std::span(tensor.data(), static_cast<size_t>(tensor.size())))};
}

void read_into(const Safetensors& file, const std::filesystem::path& path, const std::string& name,
               const Tensor& to) {
  const TensorBytes& from = file.get(name);
  check_input(
      from.dtype == real_name && from.shape == extents(to.shape()),
      "{}: {} is {} [{}] where this model has {} {}; the file belongs to another recipe or vocabulary",
      path.string(), name, from.dtype, fmt::join(from.shape, ", "), real_name, to.shape());
  std::vector<real> values(from.bytes.size() / sizeof(real));  // bytes need not lie where numbers may
  std::memcpy(values.data(), from.bytes.data(), from.bytes.size());
  to.set(values.data());
}

void check_numbers(const std::filesystem::path& path, const std::string& name, const Tensor& tensor,
                   real least = std::numeric_limits<real>::lowest()) {
  check_input(all_finite(tensor), "{}: {} holds numbers that are not finite", path.string(), name);
  for (const real number : tensor.to_vector())
    check_input(number >= least, "{}: {} holds {}, which is below {}", path.string(), name, number, least);
}

template <class Number>
Number parse_number(const std::filesystem::path& path, const std::string& name, const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check_input(error == std::errc() && end == text.data() + text.size(),
              "{}: {} is no number of its kind: '{}'", path.string(), name, text);
  return number;
}

}  // namespace

void save_model(const std::filesystem::path& path, const Module& model) {
  std::vector<std::pair<std::string, Tensor>> kept;
  for (const Segment& segment : model.segments())
    kept.emplace_back(segment.name, on_host(Module::view(model.values(), segment)));
  for (const Buffer* buffer : model.buffers()) kept.emplace_back(buffer->name(), on_host(buffer->tensor()));
  std::vector<TensorBytes> tensors;
  for (const auto& [name, tensor] : kept) tensors.push_back(as_bytes(name, tensor));
  write_safetensors(path, std::move(tensors), {{"format", "pt"}});
}

void load_model(const std::filesystem::path& path, const Module& model) {
  const Safetensors file = Safetensors::read(path);
  const size_t count = model.segments().size() + model.buffers().size();
  check_input(file.tensors().size() == count,
              "{}: holds {} tensors where this model has {}; the file belongs to another recipe",
              path.string(), file.tensors().size(), count);
  for (const Segment& segment : model.segments()) {
    const Tensor to = Module::view(model.values(), segment);
    read_into(file, path, segment.name, to);
    check_numbers(path, segment.name, to);
  }
  for (const Buffer* buffer : model.buffers()) {
    read_into(file, path, buffer->name(), buffer->tensor());
    check_numbers(path, buffer->name(), buffer->tensor(), buffer->least());
  }
}

void StateWriter::add(const std::string& name, const Tensor& tensor) {
  tensors_.emplace_back(name, on_host(tensor));
}
// Seventeen digits give a double back exactly.
void StateWriter::add(const std::string& name, double number) {
  numbers_[name] = fmt::format("{:.17g}", number);
}
void StateWriter::add(const std::string& name, int64_t number) { numbers_[name] = fmt::format("{}", number); }

void StateWriter::write(const std::filesystem::path& path) const {
  std::vector<TensorBytes> tensors;
  for (const auto& [name, tensor] : tensors_) tensors.push_back(as_bytes(name, tensor));
  write_safetensors(path, std::move(tensors), numbers_);
}

void StateReader::read(const std::string& name, const Tensor& to, real least) const {
  read_into(file_, path_, name, to);
  check_numbers(path_, name, to, least);
}
void StateReader::read(const std::string& name, double& number) const {
  number = parse_number<double>(path_, name, file_.metadata(name));
}
void StateReader::read(const std::string& name, int64_t& number) const {
  number = parse_number<int64_t>(path_, name, file_.metadata(name));
}

}  // namespace rondo
