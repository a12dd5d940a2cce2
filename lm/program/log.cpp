// The log of a training, and measurements, as lines of JSON.
#include "lm/program/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "data/files/onnx.h"
#include "lm/program/files.h"
#include "lm/program/probe_report.h"
#include "lm/program/run.h"
#include "tensor/allocator.h"

namespace rondo {

// --- TensorBoard ---

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

/// The bytes of a number as it is in memory: the lowest first (data/files/onnx.cpp).
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

// --- Training log ---

namespace {

/// Where a training is, after its last update.
Json place_of(const Trainer& trainer) {
  return {{"step", trainer.step_count()},
          {"epoch", trainer.epoch()},
          {"epochs_trained", static_cast<double>(trainer.epoch() - 1) + trainer.objective().epoch_fraction()},
          {"training_seconds", trainer.seconds()}};
}

}  // namespace

void TrainingLog::append(const std::string& event, const Json& entry) {
  Json line{{"event", event}, {"time", time_text()}};
  line.update(entry);
  file_.append(line.dump());
  if (tensorboard_) tensorboard_->add(entry);
}

void TrainingLog::stopped(const Trainer& trainer, bool unevaluated) {
  append("stopped", {{"step", trainer.step_count()},
                     {"epoch", trainer.epoch()},
                     {"training_seconds", trainer.seconds()},
                     {"model_is_evaluated", !unevaluated}});
}

void TrainingLog::updated(const Trainer& trainer, const StepMetrics& metrics) {
  if (metrics.scored == 0) return;
  window_.add(metrics);
  if (!is_due(trainer)) return;
  Json entry = place_of(trainer);
  entry.update({{"nats", window_.loss()},
                {"learning_rate", trainer.learning_rate()},
                {"gradient_norm", metrics.gradient_norm},
                {trainer.objective().scored_items() + "_per_second", window_.symbols_per_second()}});
  append("steps", entry);
  window_ = {};
}

void TrainingLog::validated(const Trainer& trainer, const Scores& scores, bool best) {
  Json entry = place_of(trainer);
  if (trainer.step_count() > 0) entry["learning_rate"] = trainer.learning_rate();
  evaluation(std::move(entry), "valid", scores, best);
}
void TrainingLog::began_with(const Scores& scores) {
  evaluation({{"step", 0}, {"epoch", 0}, {"epochs_trained", 0.0}, {"training_seconds", 0.0}}, "valid", scores,
             true);
}
void TrainingLog::measured(const std::string& split, const Scores& scores) {
  evaluation(Json::object(), split, scores, true);
}

void TrainingLog::probed(const Trainer& trainer, int64_t epochs, const Probed& what) {
  Json entry{{"step", trainer.step_count()}, {"epoch", epochs}, {"probed", "train"}};
  entry.update(json_of(what));
  append("probe", entry);
}

void TrainingLog::measured_meanwhile(const Trainer& trainer, const Json& figure) {
  Json entry{{"step", trainer.step_count()}, {"epoch", trainer.epoch()}};
  entry.update(figure);
  append("sentences", entry);
}

void TrainingLog::evaluation(Json entry, const std::string& split, const Scores& scores, bool best) {
  entry["split"] = split;
  for (const auto& [name, value] : scores.metrics) entry[name] = value;
  entry[scores.unit] = scores.count;
  entry.update({{"read", scores.read},
                {"best", best},
                {"seconds", scores.seconds},
                {"peak_bytes", memory_statistics(device_).peak_bytes}});
  append("evaluation", entry);
  window_ = {};
}

// --- Measurement ---

namespace {

/// Sets a value in an object; the part of its name before a dot is that of an object in it.
void set_at(Json& json, const std::string& name, const Json& value) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos)
    json[name] = value;
  else
    json[name.substr(0, dot)][name.substr(dot + 1)] = value;
}

/// The settings of adaptive methods, without counts.
std::string settings_of(const nlohmann::json& entry) {
  nlohmann::json settings = nlohmann::json::object();
  for (const char* section : {"dynamic", "cache"})
    if (entry.contains(section)) settings[section] = entry.at(section);
  if (settings.contains("dynamic"))
    for (const char* counted : {"statistics_symbols", "statistics_batches"})
      settings["dynamic"].erase(counted);
  return settings.empty() ? "" : settings.dump();
}

/// The scores of an entry, by its list of metrics; earlier versions kept none.
ScoreMap scores_of(const nlohmann::json& entry) {
  std::vector<std::string> names;
  for (const ScoreStyle& it : score_styles()) names.push_back(it.key);
  if (entry.contains("metrics")) {
    names = entry.at("metrics").get<std::vector<std::string>>();
    names.emplace_back("bits_per_byte");  // a detail
  }
  ScoreMap scores;
  for (const std::string& name : names)
    if (entry.contains(name)) scores[name] = figure_at(entry, name);
  if (entry.value("unknowns", 0) > 0) scores.erase("bits_per_byte");
  return scores;
}

KeptMeasurement measurement_of(const nlohmann::json& entry) {
  return {
      .split = entry.value("split", ""),
      .read = entry.at("read"),
      .task = entry.value("task", ""),
      .precision = value_named<Precision>(entry.at("precision").get<std::string>()),
      .dynamic = entry.contains("dynamic"),
      .cache = entry.contains("cache"),
      .settings = settings_of(entry),
      .scores = scores_of(entry),
      .symbols = entry.contains("symbols") ? integer_at(entry, "symbols") : 0,
      .types = integer_at(entry, "types"),
      .vocabulary_size = integer_at(entry, "vocabulary_size"),
      .parameters = integer_at(entry, "parameters"),
      .unknowns = entry.contains("unknowns") ? std::optional(integer_at(entry, "unknowns")) : std::nullopt,
      .sha256 = entry.at("sha256")};
}

}  // namespace

double score_in(const ScoreMap& scores, const std::string& key) {
  const auto found = scores.find(key);
  return found == scores.end() ? not_known : found->second;
}

bool ScoreStyle::is_of_loss() const {
  return key == "nats" || key == "bits" || key == "perplexity" || key == "bits_per_byte";
}

const std::vector<ScoreStyle>& score_styles() {
  static const std::vector<ScoreStyle> known = {{"bleu", "BLEU", 2, true},
                                                {"chrf", "chrF2", 2, true},
                                                {"pearson", "r", 4},
                                                {"spearman", "rho", 4},
                                                {"mse", "MSE", 4},
                                                {"accuracy", "accuracy", 2, true},
                                                {"f1", "F1", 2},
                                                {"cer", "CER"},
                                                {"wer", "WER"},
                                                {"nats", "nats", 4},
                                                {"bits", "bits", 4},
                                                {"perplexity", "perplexity", 2},
                                                {"bits_per_byte", "bits/byte", 4}};
  return known;
}

ScoreStyle score_style(const std::string& key) {
  const auto found = std::find_if(score_styles().begin(), score_styles().end(),
                                  [&](const ScoreStyle& it) { return it.key == key; });
  return found == score_styles().end() ? ScoreStyle{key, key} : *found;
}

std::vector<ScoreStyle> styles_of(const std::vector<const ScoreMap*>& scores) {
  std::set<std::string> keys;
  for (const ScoreMap* map : scores)
    for (const auto& [key, value] : *map) keys.insert(key);
  std::vector<ScoreStyle> known;
  for (const ScoreStyle& it : score_styles())
    if (keys.erase(it.key) > 0) known.push_back(it);
  std::vector<ScoreStyle> styles;
  for (const std::string& key : keys) styles.push_back(score_style(key));
  styles.insert(styles.end(), known.begin(), known.end());
  return styles;
}

Json json_of(const Scores& scores) {
  Json json{{"read", scores.read}, {scores.unit, scores.count}};
  for (const auto& [name, value] : scores.metrics) json[name] = value;
  for (const Detail& it : scores.details)
    std::visit([&](const auto& value) { set_at(json, it.name, value); }, it.value);
  json["seconds"] = scores.seconds;
  return json;
}

void append_evaluation(const RunFolder& run, const Json& of_text, const Scores& scores, const Task& task,
                       const Module& model, const Compute& compute,
                       const std::vector<std::string>& sha256_of_text) {
  Json json = of_text;
  json.update(json_of(scores));
  for (const Metric& it : scores.metrics) json["metrics"].push_back(it.name);
  json["types"] = task.types();
  json["vocabulary_size"] = task.vocabulary().size();
  json["parameters"] = model.parameter_count();
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, sha256_of_text);
}

void append_measurement(const RunFolder& run, Json json, const Compute& compute,
                        const std::vector<std::string>& sha256_of_text) {
  json["time"] = time_text();
  json["version"] = version();
  json["device"] = name_of(compute.device);
  json["precision"] = name_of(compute.precision);
  json["threads"] = compute.threads;
  json["sha256"] = sha256_of_text;
  append_line(run.evaluations(), json.dump(-1, ' ', false, Json::error_handler_t::replace), is_json_object);
}

std::vector<KeptMeasurement> kept_measurements(const RunFolder& run) {
  std::vector<std::pair<std::string, KeptMeasurement>> all;  // each with the SHA-256 of its model
  read_json_lines(run.evaluations(), "`lm eval` keeps", [&](const nlohmann::json& entry) {
    if (entry.contains("set")) return true;  // of vectors: lm/report/sentences.h
    KeptMeasurement it = measurement_of(entry);
    check_input(!it.scores.empty(), "no score");
    const bool is_finite = std::any_of(it.scores.begin(), it.scores.end(),
                                       [](const auto& of) { return std::isfinite(of.second); });
    if (is_finite) all.emplace_back(entry.at("model"), std::move(it));  // else a symbol had probability 0
    return true;
  });
  std::vector<KeptMeasurement> kept;
  if (all.empty()) return kept;
  const std::string model =
      file_is_there(run.model()) ? sha256_hex(InputFile(run.model())) : all.back().first;
  for (auto& [of, it] : all)
    if (of == model) kept.push_back(std::move(it));
  return kept;
}

}  // namespace rondo
