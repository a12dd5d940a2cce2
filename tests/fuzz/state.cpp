// state.safetensors and model.safetensors of small trainings, which then take a step and save. The first byte
// chooses the training, and whether it is the model. Files carry no checksum here, as those of older
// versions, or no mutation would come further than that.
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "data/text/text.h"
#include "lm/training/checkpoint.h"
#include "tensor/error.h"
#include "tests/fuzz/target.h"
#include "tests/lm/training/training.h"

namespace rondo::fuzz {
namespace {

constexpr int symbols = 5;
constexpr unsigned is_model = 4;

std::vector<Recipe> recipes() {
  std::vector<Recipe> all(3);
  for (Recipe& recipe : all) {
    recipe.name = "small";
    recipe.language_model().data.tokenization.unit = Unit::bytes;
    recipe.language_model().model.hidden = {3};
    recipe.language_model().model.embedding = 2;
    recipe.language_model().train.batches.batch = 2;
    recipe.language_model().train.batches.chunks.length = 3;
    recipe.trainer.optimizer.learning_rate = 0.01;
  }
  all[0].trainer.optimizer.kind = OptimizerKind::adam;
  all[1].trainer.optimizer.kind = OptimizerKind::sgd;
  all[1].trainer.averaging = Averaging::non_monotonic;
  all[1].language_model().train.batches.chunks.deviation = 2;
  all[2].language_model().model.cell = "bn_lstm";
  all[2].language_model().train.batches.batching = Batching::crops;
  return all;
}

const std::vector<std::int32_t>& ids() {
  static const std::vector<std::int32_t> all = [] {
    std::vector<std::int32_t> made(60);
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::int32_t>(i * 7 % symbols);
    return made;
  }();
  return all;
}

/// One of each recipe, made once.
Training& training(size_t which) {
  static const std::vector<std::unique_ptr<Training>> all = [] {
    std::vector<std::unique_ptr<Training>> made;
    for (const Recipe& recipe : recipes())
      made.push_back(std::make_unique<Training>(recipe, symbols, ids(), 0));
    return made;
  }();
  return *all[which % all.size()];
}

/// One step, an evaluation, and to the disk and back: whatever was accepted must lead to a state that is,
/// too.
void go_on(Training& training) {
  const std::filesystem::path saved = scratch("saved.safetensors");
  if (training.trainer.done() || !training.trainer.next_batch()) return;
  try {
    training.trainer.step();
    training.trainer.metrics();
    training.trainer.validated({.metrics = {{"nats", 1.5}}});
    training.trainer.save(saved, 0);
  } catch (const Diverged&) {  // numbers that are finite can lead to ones that are not
    return;
  }
  try {
    training.trainer.load(saved);
  } catch (const InputError& error) {
    throw Violation(std::string("refuses what it saved itself: ") + error.what());
  }
}

void run_state(std::string_view bytes) {
  const unsigned choice = take_choice(bytes);
  Training& it = training(choice % is_model);
  const std::filesystem::path file = scratch("a.safetensors", bytes);
  if ((choice & is_model) != 0) return load_model(file, it.model);
  it.trainer.load(file);
  go_on(it);
}

using Json = nlohmann::ordered_json;

/// The header of a safetensors file, and where its values begin.
std::pair<Json, size_t> header_of(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return {Json::parse(bytes.substr(sizeof length, length)), sizeof length + length};
}

/// The same file without its checksum and with other numbers.
std::string rewritten(const std::string& bytes, const std::map<std::string, std::string>& numbers = {}) {
  auto [header, values] = header_of(bytes);
  Json metadata = Json::object();
  for (const auto& [name, text] : header["__metadata__"].items())
    if (name.find("sha256") == std::string::npos) metadata[name] = text;
  for (const auto& [name, number] : numbers) metadata[name] = number;
  header["__metadata__"] = metadata;
  std::string text = header.dump();
  const std::uint64_t length = text.size();
  text.insert(0, reinterpret_cast<const char*>(&length), sizeof length);
  return text + bytes.substr(values);
}

std::vector<std::string> seeds() {
  std::vector<std::string> made;
  const std::vector<Recipe> all = recipes();
  for (size_t i = 0; i < all.size(); ++i) {
    Training it(all[i], symbols, ids(), 0);
    const std::filesystem::path file = scratch("seed.safetensors");
    const auto add = [&](size_t choice) {
      made.push_back(static_cast<char>(choice) + rewritten(read_file(file)));
    };
    for (const double nats : {1.5, 1.6}) {
      it.trainer.next_batch();
      it.trainer.step();
      it.trainer.metrics();
      it.trainer.validated({.metrics = {{"nats", nats}}});
      it.trainer.save(file, 100);
      add(i);
    }
    save_model(file, it.model);
    add(i + is_model);
  }
  return made;
}

/// With sums of squares below 0, of which Adam takes the root.
std::string with_negative_moments(std::string bytes) {
  const auto [header, values] = header_of(bytes);
  for (const auto& [name, tensor] : header.items()) {
    if (name.find("second_moment") == std::string::npos) continue;
    const size_t begin = values + tensor["data_offsets"][0].get<size_t>(),
                 end = values + tensor["data_offsets"][1].get<size_t>();
    for (size_t at = begin; at < end; at += sizeof(float)) bytes[at + sizeof(float) - 1] |= '\x80';
  }
  return bytes;
}

std::vector<std::string> found(const std::string& seed) {
  std::vector<std::string> inputs = {seed[0] + with_negative_moments(seed.substr(1))};
  for (const std::string name : {"step", "epoch", "position", "log_position", "state.steps", "optimizer.step",
                                 "validated_step", "schedule.decays", "schedule.evaluations_since"})
    for (const std::string number : {"9223372036854775807", "9223372036854775806", "1e308"})
      inputs.push_back(seed[0] + rewritten(seed.substr(1), {{name, number}}));
  return inputs;
}

}  // namespace

Target state() {
  const std::vector<std::string> good = seeds();
  return {"state", run_state, good, found(good.front())};
}

}  // namespace rondo::fuzz
