// Weights under other names; see lm/training/foreign_weights.h.
#include "lm/training/foreign_weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "data/files/lines.h"
#include "lm/training/checkpoint.h"

namespace rondo {

// --- Names ---

namespace {

constexpr std::string_view transposed_word = "transposed";

bool has_space(std::string_view text) { return std::ranges::any_of(text, is_space); }

/// `to` with what each `*` stands for.
std::string filled_in(std::string_view to, const std::vector<std::string>& parts) {
  std::string name;
  std::size_t next = 0;
  for (const char letter : to) letter == '*' ? name += parts[next++] : name += letter;
  return name;
}

}  // namespace

std::optional<std::vector<std::string>> fit(std::string_view pattern, std::string_view text) {
  std::vector<std::string> parts;
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text ? std::optional(parts) : std::nullopt;
  if (!text.starts_with(pattern.substr(0, star))) return std::nullopt;
  text.remove_prefix(star);
  for (;;) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view literal = pattern.substr(0, star);
    const bool last = star == std::string_view::npos;
    if (last && !text.ends_with(literal)) return std::nullopt;
    const std::size_t at = last ? text.size() - literal.size() : text.find(literal);
    if (at == std::string_view::npos) return std::nullopt;
    parts.emplace_back(text.substr(0, at));
    if (last) return parts;
    text.remove_prefix(at + literal.size());
  }
}

NameMap NameMap::from_text(std::string_view text, const std::string& name) {
  NameMap map;
  map.name_ = printable(name);
  std::int64_t number = 0;
  for (const std::string_view raw : split_lines(text)) {
    ++number;
    const std::string_view line = stripped(raw);
    if (line.empty() || line.starts_with('#')) continue;
    const auto check_rule = [&](bool good, const char* what) {
      check_input(good, "{}: line {}: '{}': {}", map.name_, number, excerpt(line), what);
    };
    const std::size_t equals = line.find('=');
    check_rule(equals != std::string_view::npos, "expected a rule: OLD = NEW");
    Rule rule{.from = std::string(stripped(line.substr(0, equals))), .to = {}, .line = number};
    std::string_view to = stripped(line.substr(equals + 1));
    if (to.ends_with(transposed_word) && has_space(to)) {
      rule.transposed = true;
      to = stripped(to.substr(0, to.size() - transposed_word.size()));
    }
    rule.to = to;
    check_rule(!rule.from.empty() || !rule.to.empty(), "a rule without names");
    check_rule(!has_space(rule.from) && !has_space(rule.to),
               "names have no spaces; after them may stand: transposed");
    const auto stars = [](const std::string& it) { return std::ranges::count(it, '*'); };
    check_rule(stars(rule.to) <= stars(rule.from), "each * of the new name needs one in the old name");
    if (rule.from.empty()) {
      check_rule(!rule.transposed, "zeros are zeros, transposed or not");
      map.zeros_.push_back(rule.to);
    } else {
      map.rules_.push_back(rule);
    }
  }
  return map;
}

NameMap::Renamed NameMap::operator()(const std::string& from) const {
  for (const Rule& rule : rules_)
    if (const auto parts = fit(rule.from, from)) return {filled_in(rule.to, *parts), rule.transposed, &rule};
  return {from};
}

// --- Weights ---

namespace {

/// "a, b, c and 7 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(std::span(names).first(most), ", "), names.size() - most);
}

/// The numbers of a tensor; `value` is that of a stored one.
template <class Number>
std::vector<real> read_as(
    const Safetensors& file, const TensorEntry& entry,
    double (*value)(Number) = [](Number x) -> double { return x; }) {
  std::vector<Number> stored(entry.size() / sizeof(Number));
  file.read(entry, std::as_writable_bytes(std::span(stored)));
  std::vector<real> numbers(stored.size());
  std::ranges::transform(stored, numbers.begin(), [&](Number x) { return static_cast<real>(value(x)); });
  return numbers;
}

/// IEEE 754's number of 16 bits: a sign, five bits of exponent, ten of fraction.
double from_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  const double size = exponent == 0x1f ? (fraction == 0 ? INFINITY : NAN)
                      : exponent == 0  ? std::ldexp(fraction, -24)
                                       : std::ldexp(fraction + 0x400, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

/// The upper half of a float.
double from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

/// `columns` columns become as many rows.
std::vector<real> transposed(const std::vector<real>& numbers, std::size_t columns) {
  const std::size_t rows = columns == 0 ? 0 : numbers.size() / columns;
  std::vector<real> result(numbers.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = numbers[i * columns + j];
  return result;
}

}  // namespace

std::vector<std::int64_t> ForeignWeights::Source::shape() const {
  if (!transposed) return entry->shape;
  return {entry->shape.rbegin(), entry->shape.rend()};
}

ForeignWeights::ForeignWeights(const std::filesystem::path& path, const NameMap& names)
    : file_(path), zeros_(names.zeros()) {
  std::set<const NameMap::Rule*> used;
  for (const TensorEntry& entry : file_.tensors()) {
    const auto [name, transposed, rule] = names(entry.name);
    used.insert(rule);
    if (name.empty()) continue;
    check_input(!transposed || entry.shape.size() == 2,
                "{}: {} is [{}], which has no transpose: only a matrix has one", file_.name(), entry.name,
                fmt::join(entry.shape, ", "));
    const auto [other, is_new] = sources_.emplace(name, Source{&entry, transposed});
    check_input(is_new, "{}: {} and {} would both be {}", file_.name(), other->second.entry->name, entry.name,
                name);
  }
  for (const NameMap::Rule& rule : names.rules())
    check_input(used.contains(&rule), "{}: line {}: {} has no tensor for it: {}", names.name(), rule.line,
                file_.name(), rule.from);
}

std::optional<std::vector<std::int64_t>> ForeignWeights::shape_of(const std::string& name) const {
  const auto found = sources_.find(name);
  return found == sources_.end() ? std::nullopt : std::optional(found->second.shape());
}

template <class Use>
std::string ForeignWeights::for_each_tensor(const Module& model, Use use) const {
  std::map<std::string, Source> left = sources_;
  std::set<std::string> zeros(zeros_.begin(), zeros_.end());
  std::vector<std::string> missing, too_much, twice;
  const auto take = [&](std::vector<std::string> names, const Shape& shape, real least, auto tensor) {
    std::vector<Source> sources;
    bool is_zero = false;
    for (const std::string& name : names) {
      if (const auto found = left.extract(name)) sources.push_back(found.mapped());
      is_zero |= zeros.erase(name) > 0;
    }
    if (sources.empty() && !is_zero) missing.push_back(fmt::format("{}", fmt::join(names, " or ")));
    if (!sources.empty() && is_zero) twice.push_back(names.front());
    use(sources, shape, least, tensor);
  };
  for (const Segment& segment : model.segments()) {
    std::vector<std::string> names{segment.name};
    names.insert(names.end(), segment.aliases.begin(), segment.aliases.end());
    take(std::move(names), segment.shape, std::numeric_limits<real>::lowest(),
         [&] { return part_of(model.values(), segment); });
  }
  for (const Buffer* buffer : model.buffers())
    take({buffer->name()}, buffer->shape(), buffer->least(), [buffer] { return buffer->tensor(); });
  for (const auto& [name, source] : left) too_much.push_back(source.entry->name);
  check_input(twice.empty(), "{}: {} is in the file, and the map says that it is zero", file_.name(),
              listed(twice));
  check_input(zeros.empty(), "{}: the map says what is zero that this model does not have: {}", file_.name(),
              listed({zeros.begin(), zeros.end()}));
  const std::string lacks = missing.empty() ? "" : fmt::format("lacks {}", listed(missing)),
                    has = too_much.empty() ? "" : fmt::format("has {}", listed(too_much));
  if (lacks.empty() && has.empty()) return "";
  const bool has_second_biases = std::ranges::any_of(
      too_much, [](const std::string& name) { return name.find("bias_hh_l") != name.npos; });
  return fmt::format(
      "{}{}{}: {}a map of names, --map FILE, renames tensors (OLD = NEW), leaves them out (OLD =) or makes "
      "missing ones zero (= NEW)",
      lacks, lacks.empty() || has.empty() ? "" : ", and ",
      has.empty() ? "" : has + (lacks.empty() ? ", which this model does not have" : " in addition"),
      has_second_biases ? "a cell with two biases for each gate, as PyTorch's, is --set model.biases=2; "
                        : "");
}

void ForeignWeights::check_layout(const Module& model) const {
  std::vector<std::string> differences;
  const std::string unmatched =
      for_each_tensor(model, [&](const std::vector<Source>& sources, const Shape& shape, real, auto) {
        for (const Source& it : sources) {
          const std::string& dtype = it.entry->dtype;
          check_input(dtype == "F64" || dtype == "F32" || dtype == "F16" || dtype == "BF16",
                      "{}: {} is of type {}; weights are F64, F32, F16 or BF16", file_.name(), it.entry->name,
                      dtype);
          if (it.shape() != extents(shape))
            differences.push_back(fmt::format("{} is [{}] where this model has {}", it.entry->name,
                                              fmt::join(it.shape(), ", "), shape));
        }
      });
  const std::string shapes = listed(differences);
  check_input(unmatched.empty() && shapes.empty(), "{}: {}{}{}", file_.name(), unmatched,
              unmatched.empty() || shapes.empty() ? "" : "; ", shapes);
}

std::vector<real> ForeignWeights::numbers_of(const Source& source) const {
  const TensorEntry& entry = *source.entry;
  std::vector<real> numbers = entry.dtype == "F16"    ? read_as<std::uint16_t>(file_, entry, from_f16)
                              : entry.dtype == "BF16" ? read_as<std::uint16_t>(file_, entry, from_bf16)
                              : entry.dtype == "F32"  ? read_as<float>(file_, entry)
                                                      : read_as<double>(file_, entry);
  if (source.transposed) numbers = transposed(numbers, static_cast<std::size_t>(entry.shape.back()));
  return numbers;
}

void ForeignWeights::load(const Module& model) const {
  check_layout(model);
  file_.check_values();
  const std::string unmatched = for_each_tensor(model, [&](const std::vector<Source>& sources,
                                                           const Shape& shape, real least, auto tensor) {
    std::vector<real> numbers(static_cast<std::size_t>(shape.size()));
    for (const Source& it : sources) {
      const std::vector<real> others = std::exchange(numbers, numbers_of(it));
      check_input(it.entry == sources.front().entry || numbers == others,
                  "{}: {} and {} differ, and this model has one tensor for both: they are not tied",
                  file_.name(), sources.front().entry->name, it.entry->name);
      for (const real number : numbers)
        check_input(std::isfinite(number) && number >= least, "{}: {} holds {}, which no model here can have",
                    file_.name(), it.entry->name, number);
    }
    tensor().set(numbers.data());
  });
  check(unmatched.empty(), "[import] {}", unmatched);  // check_layout() has refused them
}

}  // namespace rondo
