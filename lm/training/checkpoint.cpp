// Model and training state in files.
#include "lm/training/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <set>

#include "tensor/error.h"

namespace rondo {
namespace {

constexpr const char* real_name = sizeof(real) == 4 ? "F32" : "F64";

/// Returns x. Throws Error for a tensor of a model without memory.
const Tensor& in_memory(const Tensor& x) {
  check(has_memory(x.device()), "[model] on the device {} it has no values: allocate() it on another first",
        name_of(x.device()));
  return x;
}

/// Contiguous, on the host.
Tensor on_host(const Tensor& x) { return contiguous(in_memory(x).to(Device::cpu)); }

/// The tensor must lie on the host, be contiguous and outlive the bytes.
TensorBytes as_bytes(const std::string& name, const Tensor& tensor) {
  check(tensor.contiguous() && tensor.device() == Device::cpu, "[save] {} is not contiguous on the host",
        name);
  return {name, real_name, extents(tensor.shape()),
          std::as_bytes(std::span(tensor.data(), static_cast<size_t>(tensor.size())))};
}

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

std::string first_not_finite_of(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors)
    if (!all_finite(tensor)) return name;
  return "";
}

void write(const std::filesystem::path& path, const NamedTensors& tensors, const Metadata& metadata) {
  std::vector<TensorBytes> bytes;
  for (const auto& [name, tensor] : tensors) bytes.push_back(as_bytes(name, tensor));
  write_safetensors(path, std::move(bytes), metadata);
}

const TensorEntry& entry_of(const Safetensors& file, const std::string& name, const Shape& shape) {
  const TensorEntry& entry = file.get(name);
  check_input(
      entry.dtype == real_name && entry.shape == extents(shape),
      "{}: {} is {} [{}] where this model has {} {}; the file belongs to another recipe or vocabulary",
      file.name(), name, entry.dtype, fmt::join(entry.shape, ", "), real_name, shape);
  return entry;
}

/// The values of a tensor. InputError unless all are finite and at least `least`.
std::vector<real> numbers_of(const Safetensors& file, const std::string& name, const Shape& shape,
                             real least) {
  const TensorEntry& entry = entry_of(file, name, shape);
  std::vector<real> numbers(entry.size() / sizeof(real));
  file.read(entry, std::as_writable_bytes(std::span(numbers)));
  const auto bad = std::find_if(numbers.begin(), numbers.end(), [least](real number) {
    return !(number >= least && number <= std::numeric_limits<real>::max());
  });
  if (bad == numbers.end()) return numbers;
  check_input(std::isfinite(*bad), "{}: {} holds numbers that are not finite", file.name(), name);
  throw InputError(fmt::format("{}: {} holds {}, which is below {}", file.name(), name, *bad, least));
}

/// Every tensor of a model's file: use(name, shape, the minimum of its values, its view in the model).
template <class Use>
void for_each_tensor(const Module& model, Use use) {
  for (const Segment& segment : model.segments())
    use(segment.name, segment.shape, std::numeric_limits<real>::lowest(),
        [&] { return part_of(model.values(), segment); });
  for (const Buffer* buffer : model.buffers())
    use(buffer->name(), buffer->shape(), buffer->least(), [buffer] { return buffer->tensor(); });
}

void check_layout(const Safetensors& file, const Module& model) {
  const size_t count = model.segments().size() + model.buffers().size();
  check_input(file.tensors().size() == count,
              "{}: holds {} tensors where this model has {}; the file belongs to another recipe", file.name(),
              file.tensors().size(), count);
  for_each_tensor(
      model, [&](const std::string& name, const Shape& shape, real, auto) { entry_of(file, name, shape); });
}

/// Before values are read for use.
void check_values_or_warn(const Safetensors& file) {
  file.check_values();
  // What this program writes has always had metadata; what other programs write often has none.
  static std::set<std::string> warned;
  if (!file.has_digests() && !file.metadata().empty() && warned.insert(file.name()).second)
    fmt::print(stderr,
               "{}: warning: {}: written without SHA-256, by an older version or another program: damage to "
               "its values cannot be noticed\n",
               program_invocation_short_name, printable(file.name()));
}

template <class Number>
Number parse_number(const Safetensors& file, const std::string& name, Number least, Number most) {
  const std::string& text = file.metadata(name);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check_input(error == std::errc() && end == text.data() + text.size(), "{}: {} is not a valid number: '{}'",
              file.name(), name, text);
  check_input(number >= least && number <= most, "{}: {} = {} is out of range: {} to {}", file.name(), name,
              number, least, most);
  return number;
}

}  // namespace

std::vector<int64_t> extents(const Shape& shape) {
  std::vector<int64_t> result;
  for (int i = 0; i < shape.dimensions(); ++i) result.push_back(shape[i]);
  return result;
}

std::optional<Tensor> parameter_named(const Module& model, const std::string& name) {
  for (const Segment& segment : model.segments())
    if (segment.name == name) return part_of(model.values(), segment);
  return std::nullopt;
}

void save_model(const std::filesystem::path& path, const Module& model) {
  NamedTensors kept;
  for_each_tensor(model, [&](const std::string& name, const Shape&, real, auto tensor) {
    kept.emplace_back(name, on_host(tensor()));
  });
  if (const std::string name = first_not_finite_of(kept); !name.empty())
    throw Diverged(fmt::format("the model to be saved is not finite: {}", name));
  write(path, kept, {{"format", "pt"}});
}

void load_model(const std::filesystem::path& path, const Module& model) {
  const Safetensors file(path);
  check_layout(file, model);
  check_values_or_warn(file);
  for_each_tensor(model, [&](const std::string& name, const Shape& shape, real least, auto tensor) {
    in_memory(tensor()).set(numbers_of(file, name, shape, least).data());
  });
}

void check_model(const std::filesystem::path& path, const Module& model) {
  const Safetensors file(path);
  check_layout(file, model);
  file.check_values();
  for_each_tensor(model, [&](const std::string& name, const Shape& shape, real least, auto) {
    numbers_of(file, name, shape, least);
  });
}

void check_model_layout(const std::filesystem::path& path, const Module& model) {
  check_layout(Safetensors(path), model);
}

void check_state_layout(const std::filesystem::path& path, const Module& model) {
  const StateFile file(path);
  for (const Segment& segment : model.segments()) file.check_shape("values." + segment.name, segment.shape);
}

void StateFileWriter::add(const std::string& name, const Tensor& tensor) {
  tensors_.emplace_back(name, on_host(tensor));
}
// Seventeen digits restore a double exactly.
void StateFileWriter::add(const std::string& name, double number) {
  add_number(name, fmt::format("{:.17g}", number));
}
void StateFileWriter::add(const std::string& name, int64_t number) {
  add_number(name, fmt::format("{}", number));
}
void StateFileWriter::add_number(const std::string& name, const std::string& text) {
  check(numbers_.emplace(name, text).second, "[save] two numbers of the name {}", name);
}

std::string StateFileWriter::first_not_finite() const { return first_not_finite_of(tensors_); }

void StateFileWriter::write(const std::filesystem::path& path) const {
  rondo::write(path, tensors_, numbers_);
}

void StateFile::check_shape(const std::string& name, const Shape& shape) const {
  entry_of(file_, name, shape);
}
void StateFile::check_values_or_warn() const { rondo::check_values_or_warn(file_); }

void StateFile::read(const std::string& name, const Tensor& to, real least) const {
  in_memory(to).set(numbers_of(file_, name, to.shape(), least).data());
}
void StateFile::read(const std::string& name, double& number, double least) const {
  number = parse_number(file_, name, least, std::numeric_limits<double>::max());
}
void StateFile::read(const std::string& name, int64_t& number, int64_t least, int64_t most) const {
  number = parse_number(file_, name, least, most);
}

}  // namespace rondo
