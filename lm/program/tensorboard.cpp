// TensorBoard's event files.
#include "lm/program/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "lm/program/json_lines.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

// ---- Protocol Buffers: a field is its number and the kind of its value, then the value.

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

template <class Number>
std::string raw(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Seven bits a byte, the lowest first.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

enum class Wire : unsigned { varint = 0, eight_bytes = 1, length = 2, four_bytes = 5 };
std::string key(unsigned field, Wire wire) { return varint(field << 3 | static_cast<unsigned>(wire)); }

std::string integer_field(unsigned field, std::int64_t value) {
  return key(field, Wire::varint) + varint(static_cast<std::uint64_t>(value));
}
std::string double_field(unsigned field, double value) { return key(field, Wire::eight_bytes) + raw(value); }
std::string float_field(unsigned field, float value) { return key(field, Wire::four_bytes) + raw(value); }
/// A text or a message.
std::string bytes_field(unsigned field, const std::string& bytes) {
  return key(field, Wire::length) + varint(bytes.size()) + bytes;
}
std::string doubles_field(unsigned field, const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values) bytes += raw(value);
  return bytes_field(field, bytes);
}

// ---- The messages, with the field numbers of tensorboard/compat/proto: event.proto, summary.proto,
// histogram.proto.

/// HistogramProto. The sum of squares is that of the middles of the bins.
std::string histogram_message(const EventHistogram& it) {
  double count = 0, sum = 0, squares = 0;
  std::size_t first = it.counts.size(), last = 0;
  for (std::size_t i = 0; i < it.counts.size(); ++i) {
    const double middle = (it.edges[i] + it.edges[i + 1]) / 2;
    count += it.counts[i], sum += it.counts[i] * middle, squares += it.counts[i] * middle * middle;
    if (it.counts[i] > 0) first = std::min(first, i), last = i;
  }
  if (count == 0) first = 0;
  return double_field(1, it.edges[first]) + double_field(2, it.edges[last + 1]) + double_field(3, count) +
         double_field(4, sum) + double_field(5, squares) +
         doubles_field(6, {it.edges.begin() + 1, it.edges.end()}) + doubles_field(7, it.counts);
}

/// Summary.
std::string summary_message(const EventSummary& summary) {
  std::string message;
  for (const auto& [tag, value] : summary.scalars)
    message += bytes_field(1, bytes_field(1, tag) + float_field(2, static_cast<float>(value)));
  for (const auto& [tag, histogram] : summary.histograms)
    message += bytes_field(1, bytes_field(1, tag) + bytes_field(5, histogram_message(histogram)));
  return message;
}

/// Event, with one of its contents.
std::string event_message(std::int64_t step, const std::string& content) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return double_field(1, now) + integer_field(2, step) + content;
}
std::string version_content() { return bytes_field(3, "brain.Event:2"); }
std::string summary_content(const EventSummary& it) { return bytes_field(5, summary_message(it)); }
/// SessionLog with the status START.
std::string start_content() { return bytes_field(7, integer_field(1, 1)); }

// ---- TFRecord.

std::uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

std::string record_of(const std::string& event) {
  const std::string length = raw(static_cast<std::uint64_t>(event.size()));
  return length + raw(masked_crc(length)) + event + raw(masked_crc(event));
}

/// A name that TensorBoard recognises and reads after those that are there.
std::filesystem::path next_file(const std::filesystem::path& folder) {
  const std::string begin = "events.out.tfevents.";
  std::int64_t time =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (const std::string name = entry->path().filename().string(); name.starts_with(begin))
      time = std::max<std::int64_t>(time, std::strtoll(name.c_str() + begin.size(), nullptr, 10) + 1);
  return folder / fmt::format("{}{:010}.rondo", begin, time);
}

EventHistogram histogram_of(const Json& distribution) {
  EventHistogram it;
  const double from = distribution.at("from"), to = distribution.at("to");
  it.counts = distribution.at("counts").get<std::vector<double>>();
  const auto bins = static_cast<double>(it.counts.size());
  for (std::size_t i = 0; i <= it.counts.size(); ++i)
    it.edges.push_back(from + (to - from) * static_cast<double>(i) / bins);
  return it;
}

void add_layer(const Json& layer, const std::string& prefix, EventSummary& summary) {
  const Json& norms = layer.at("gradients").at("h").at("log_norm");
  for (const std::size_t t : {0, 5, 10})  // as Figure 1 (a) of Wu et al. 2016
    if (t < norms.size() && norms[t].is_number())
      summary.scalars.emplace_back(fmt::format("{}log_gradient_norm/h_{}", prefix, t), norms[t]);
  for (const char* kind : {"activations", "gates"})
    for (const auto& [name, distribution] : layer.at(kind).items())
      summary.histograms.emplace_back(fmt::format("{}{}/{}", prefix, kind, name), histogram_of(distribution));
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> all{};
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      all[i] = i;
      for (int bit = 0; bit < 8; ++bit) all[i] = all[i] >> 1 ^ (all[i] & 1 ? 0x82f63b78u : 0);
    }
    return all;
  }();
  std::uint32_t crc = ~0u;
  for (const char it : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(it)) & 0xff];
  return ~crc;
}

EventSummary summary_of(const Json& line) {
  const std::string of = line.contains("probed") ? "probe" : line.value("split", "train");
  EventSummary summary;
  for (const auto& [name, value] : line.items())
    if (value.is_number() && name != "step")
      summary.scalars.emplace_back(fmt::format("{}/{}", of, name), value.get<double>());
  if (line.contains("probed"))
    for (const Json& layer : line.at("layers"))
      add_layer(layer, fmt::format("probe/{}/", layer.at("layer").get<std::string>()), summary);
  return summary;
}

TensorBoardLog::TensorBoardLog(const RunFolder& run, std::int64_t step)
    : path_(next_file(run.path)), step_(step), file_(path_, std::ios::binary) {
  if (!file_) warn();
  write(event_message(step, version_content()));
  write(event_message(step, start_content()));
  std::int64_t of_line = 0;
  read_json_lines(run.log(), "`lm train` writes into its log", [&](const nlohmann::json& line) {
    if (line.contains("step")) of_line = integer_at(line, "step");
    if (of_line >= step) add(Json(line));
    return true;
  });
}

void TensorBoardLog::add(const Json& line) {
  step_ = line.value("step", step_);
  write(event_message(step_, summary_content(summary_of(line))));
}

void TensorBoardLog::write(const std::string& event) {
  if (!file_) return;
  const std::string record = record_of(event);
  file_.write(record.data(), static_cast<std::streamsize>(record.size()));
  file_.flush();
  if (!file_) warn();
}

void TensorBoardLog::warn() const {
  fmt::print(stderr, "lm: warning: {}: cannot be written: TensorBoard will not see what follows\n",
             path_.string());
}

}  // namespace rondo
