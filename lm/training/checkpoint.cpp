// Model and training state in files.
#include "lm/training/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <list>
#include <set>

#include "tensor/error.h"
#include "tensor/products/int8.h"

namespace rondo {
namespace {

constexpr const char* real_name = sizeof(real) == 4 ? "F32" : "F64";
constexpr const char* int8_name = "I8";

/// The scales of a matrix in int8, beside it.
std::string scales_of(const std::string& name) { return name + ".row_scales"; }

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

const TensorEntry& entry_of(const Safetensors& file, const std::string& name, const Shape& shape,
                            const std::string& dtype = real_name) {
  const TensorEntry& entry = file.get(name);
  check_input(
      entry.dtype == dtype && entry.shape == extents(shape),
      "{}: {} is {} [{}] where this model has {} {}; the file belongs to another recipe or vocabulary",
      file.name(), name, entry.dtype, fmt::join(entry.shape, ", "), dtype, shape);
  return entry;
}

/// Throws InputError unless all are finite and at least `least`.
void check_numbers(const Safetensors& file, const std::string& name, const std::vector<real>& numbers,
                   real least) {
  const auto bad = std::ranges::find_if(numbers, [least](real number) {
    return !(number >= least && number <= std::numeric_limits<real>::max());
  });
  if (bad == numbers.end()) return;
  check_input(std::isfinite(*bad), "{}: {} holds numbers that are not finite", file.name(), name);
  throw InputError(fmt::format("{}: {} holds {}, which is below {}", file.name(), name, *bad, least));
}

/// The values of a tensor. InputError unless all are finite and at least `least`.
std::vector<real> numbers_of(const Safetensors& file, const std::string& name, const Shape& shape,
                             real least) {
  const TensorEntry& entry = entry_of(file, name, shape);
  std::vector<real> numbers(entry.size() / sizeof(real));
  file.read(entry, std::as_writable_bytes(std::span(numbers)));
  check_numbers(file, name, numbers, least);
  return numbers;
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

bool is_int8(const TensorEntry& entry) { return entry.dtype == int8_name; }

/// The same of a tensor of a model, which may be in int8.
std::vector<real> weights_of(const Safetensors& file, const std::string& name, const Shape& shape,
                             real least) {
  const TensorEntry& entry = file.get(name);
  if (!is_int8(entry)) return numbers_of(file, name, shape, least);
  const std::vector<real> scales = numbers_of(file, scales_of(name), Shape{shape.rows()}, 0);
  std::vector<int8_t> multiples(entry.size());
  file.read(entry, std::as_writable_bytes(std::span(multiples)));
  std::vector<real> numbers(multiples.size());
  const auto columns = static_cast<size_t>(shape.columns());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = multiples[i] * scales[i / columns];
  check_numbers(file, name, numbers, least);
  return numbers;
}

void check_layout(const Safetensors& file, const Module& model) {
  size_t count = 0;
  for_each_tensor(model, [&](const std::string& name, const Shape&, real, auto) {
    const auto found = std::ranges::find(file.tensors(), name, &TensorEntry::name);
    count += found != file.tensors().end() && is_int8(*found) ? 2 : 1;
  });
  check_input(file.tensors().size() == count,
              "{}: holds {} tensors where this model has {}; the file belongs to another recipe", file.name(),
              file.tensors().size(), count);
  for_each_tensor(model, [&](const std::string& name, const Shape& shape, real, auto) {
    const bool in_int8 = is_int8(file.get(name));
    entry_of(file, name, shape, in_int8 ? int8_name : real_name);
    if (in_int8) entry_of(file, scales_of(name), Shape{shape.rows()});
  });
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

namespace {
/// Contiguous, on the host. Throws Diverged if a number is not finite.
NamedTensors finite_tensors_of(const Module& model) {
  NamedTensors kept;
  for_each_tensor(model, [&](const std::string& name, const Shape&, real, auto tensor) {
    kept.emplace_back(name, on_host(tensor()));
  });
  if (const std::string name = first_not_finite_of(kept); !name.empty())
    throw Diverged(fmt::format("the model to be saved is not finite: {}", name));
  return kept;
}
const Metadata metadata_of_model = {{"format", "pt"}};
}  // namespace

void save_model(const std::filesystem::path& path, const Module& model) {
  write(path, finite_tensors_of(model), metadata_of_model);
}

void save_model_in_int8(const std::filesystem::path& path, const Module& model) {
  std::vector<TensorBytes> bytes;
  std::list<std::vector<int8_t>> all_multiples;  // what the bytes lie in
  NamedTensors kept = finite_tensors_of(model), all_scales;
  for (const auto& [name, tensor] : kept) {
    const Shape& shape = tensor.shape();
    const bool is_matrix = shape.dimensions() >= 2 && shape.rows() > 1;
    if (!is_matrix || !parameter_named(model, name)) {  // statistics stay as they are
      bytes.push_back(as_bytes(name, tensor));
      continue;
    }
    std::vector<int8_t>& multiples = all_multiples.emplace_back(static_cast<size_t>(shape.size()));
    const Tensor& scales = all_scales.emplace_back(scales_of(name), Shape{shape.rows()}).second;
    for (int64_t row = 0, columns = shape.columns(); row < shape.rows(); ++row)
      scales.mutable_data()[row] =
          round_to_int8(tensor.data() + row * columns, columns, multiples.data() + row * columns);
    bytes.push_back({name, int8_name, extents(shape), std::as_bytes(std::span(multiples))});
  }
  for (const auto& [name, scales] : all_scales) bytes.push_back(as_bytes(name, scales));
  write_safetensors(path, std::move(bytes), metadata_of_model);
}

void load_model(const std::filesystem::path& path, const Module& model) {
  const Safetensors file(path);
  check_layout(file, model);
  check_values_or_warn(file);
  for_each_tensor(model, [&](const std::string& name, const Shape& shape, real least, auto tensor) {
    in_memory(tensor()).set(weights_of(file, name, shape, least).data());
  });
}

void check_model(const std::filesystem::path& path, const Module& model) {
  const Safetensors file(path);
  check_layout(file, model);
  file.check_values();
  for_each_tensor(model, [&](const std::string& name, const Shape& shape, real least, auto) {
    weights_of(file, name, shape, least);
  });
}

void check_model_layout(const std::filesystem::path& path, const Module& model) {
  check_layout(Safetensors(path), model);
}

void check_state_layout(const std::filesystem::path& path, const Module& model) {
  const Safetensors file(path);
  for (const Segment& segment : model.segments()) entry_of(file, "values." + segment.name, segment.shape);
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
