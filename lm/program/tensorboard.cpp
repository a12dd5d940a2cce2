// TensorBoard's event files.
#include "lm/program/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/protobuf.h"
#include "lm/program/json_lines.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

// ---- The messages, with the field numbers of tensorboard/compat/proto: event.proto, summary.proto,
// histogram.proto.

/// HistogramProto of a distribution in the log. The sum of squares is that of the middles of the bins.
ProtobufMessage histogram_message(const Json& distribution) {
  const double from = distribution.at("from"), to = distribution.at("to");
  const auto counts = distribution.at("counts").get<std::vector<double>>();
  std::vector<double> ends;  // of the bins
  const double width = (to - from) / static_cast<double>(counts.size());
  double count = 0, sum = 0, squares = 0, least = to, most = from;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double begin = from + width * static_cast<double>(i), middle = begin + width / 2;
    ends.push_back(begin + width);
    count += counts[i], sum += counts[i] * middle, squares += counts[i] * middle * middle;
    if (counts[i] > 0) least = std::min(least, begin), most = begin + width;
  }
  ProtobufMessage message;
  const double numbers[] = {least, most, count, sum, squares};
  for (int i = 0; i < 5; ++i) message.add_double(i + 1, numbers[i]);
  message.add_doubles(6, ends);
  message.add_doubles(7, counts);
  return message;
}

/// A Summary in the making.
struct EventSummary {
  ProtobufMessage message{};

  void add(const std::string& tag, double number) {
    ProtobufMessage value;
    value.add(1, tag);
    value.add_float(2, static_cast<float>(number));
    message.add(1, value);
  }
  void add(const std::string& tag, const ProtobufMessage& histogram) {
    ProtobufMessage value;
    value.add(1, tag);
    value.add(5, histogram);
    message.add(1, value);
  }
  void add_numbers(const std::string& prefix, const Json& object) {
    for (const auto& [name, value] : object.items())
      if (value.is_number() && name != "step") add(prefix + name, value.get<double>());
  }
};

/// Summary of a line of the log.
ProtobufMessage summary_message(const Json& line) {
  const std::string of = line.contains("probed") ? "probe"
                         : line.contains("set")  ? line.at("set").get<std::string>()
                                                 : line.value("split", "train");
  EventSummary summary;
  summary.add_numbers(of + "/", line);
  if (line.contains("set")) summary.add_numbers(of + "/", line.at("vectors"));
  if (!line.contains("probed")) return summary.message;
  for (const Json& layer : line.at("layers")) {
    const std::string prefix = fmt::format("probe/{}/", layer.at("layer").get<std::string>());
    const Json& norms = layer.at("gradients").at("h").at("log_norm");
    for (const std::size_t t : {0, 5, 10})  // as Figure 1 (a) of Wu et al. 2016
      if (t < norms.size() && norms[t].is_number())
        summary.add(fmt::format("{}log_gradient_norm/h_{}", prefix, t), norms[t].get<double>());
    for (const std::string kind : {"activations", "gates"})
      for (const auto& [name, distribution] : layer.at(kind).items())
        summary.add(prefix + kind + "/" + name, histogram_message(distribution));
  }
  return summary.message;
}

/// Event, with the content of one of its fields.
template <class Content>
std::string event_message(std::int64_t step, int field, const Content& content) {
  ProtobufMessage message;
  message.add_double(
      1, std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  message.add(2, step);
  message.add(field, content);
  return message.bytes();
}
std::string version_message(std::int64_t step) { return event_message(step, 3, "brain.Event:2"); }
/// With a SessionLog of the status START.
std::string start_message(std::int64_t step) {
  ProtobufMessage session;
  session.add(1, std::int64_t{1});
  return event_message(step, 7, session);
}

// ---- TFRecord.

std::uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

/// The bytes of a number as it is in memory: the lowest first (data/protobuf.cpp).
template <class Number>
std::string raw(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

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

TensorBoardLog::TensorBoardLog(const RunFolder& run, std::int64_t step)
    : path_(next_file(run.path)), step_(step), file_(path_, std::ios::binary) {
  if (!file_) warn();
  write(version_message(step));
  write(start_message(step));
  std::int64_t of_line = 0;
  read_json_lines(run.log(), "`lm train` writes into its log", [&](const nlohmann::json& line) {
    if (line.contains("step")) of_line = integer_at(line, "step");
    if (of_line >= step) add(Json(line));
    return true;
  });
}

void TensorBoardLog::add(const Json& line) {
  step_ = line.value("step", step_);
  write(event_message(step_, 5, summary_message(line)));
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
