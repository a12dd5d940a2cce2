// The C API: see rondo.h. A handle is a number, by which its object is looked up, so that no wrong handle is
// followed.
#include "lm/inference/rondo.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lm/decoding/sampling.h"
#include "lm/inference/run_folder.h"
#include "lm/settings/settings.h"
#include "lm/settings/toml.h"
#include "lm/tasks/language_modelling.h"
#include "lm/training/checkpoint.h"
#include "nn/models/language_model.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

// --- Models and states ---

struct OpenModel {
  OpenModel(Vocabulary symbols, std::unique_ptr<LanguageModel> model)
      : vocabulary(std::move(symbols)), network(std::move(model)) {}

  const Vocabulary vocabulary;
  const std::unique_ptr<LanguageModel> network;
  std::mutex used{};  // by one thread at a time

  /// InputError for an id that is none.
  const std::string& symbol(std::int32_t id) const {
    check_input(id >= 0 && id < vocabulary.size(), "symbol {}: ids are 0 to {}", id, vocabulary.size() - 1);
    return vocabulary.symbol(id);
  }
};

/// Reads no more of config.toml than the model and its vocabulary need. InputError as of open_run().
std::shared_ptr<OpenModel> open_model(const std::string& path) {
  const RunFolder folder = open_run_folder(path);
  const std::string file = folder.config().string(),
                    text = read_file(folder.config(), Pipes::refused, max_toml_bytes);
  std::string task = "language_modelling", version, sha256;
  const auto read = [&](const Keys& keys) { read_toml(text, file, keys, OtherKeys::ignored); };
  read({{"recipe.task", &task}, {"made_by.version", &version}, {"made_by.vocabulary", &sha256}});
  check_input(!version.empty(), "{}: made_by.version is missing: truncated?", file);
  check_input(task == "language_modelling",
              "{}: a run of the task {}, where one of language_modelling is needed", path, task);
  LanguageModellingSettings settings;
  read(
      joined({section("data", keys_of(settings.data.tokenization)), section("model", keys_of(settings.model)),
              section("train", keys_of(settings.train.batches))}));
  check_model(settings.model, file);
  check_section(file, "", model_options(settings));

  const Tokenization& tokenization = settings.data.tokenization;
  const std::string name = "vocab.txt";
  VocabularyFiles files;
  for (const std::string& it : names_of_files(name, tokenization))
    files.emplace_back(it, read_vocabulary_file(folder.path / it));
  check_vocabularies(folder, sha256, files);
  Vocabulary vocabulary = vocabulary_among(files, name, folder.path.string(), tokenization);
  auto network = std::make_unique<LanguageModel>(model_options(settings), vocabulary.size(), 1, Device::meta);
  check_model_layout(folder.model(), *network);
  network->allocate(Device::cpu);
  static std::mutex one_at_a_time;  // load_model() knows of which files it has warned
  const std::lock_guard lock(one_at_a_time);
  load_model(folder.model(), *network);
  network->set_training(false);
  return std::make_shared<OpenModel>(std::move(vocabulary), std::move(network));
}

/// A place in a text. Its functions expect that nobody else uses the model, and that nothing is recorded.
class Place {
 public:
  explicit Place(std::shared_ptr<OpenModel> model)
      : model_(std::move(model)),
        states_(model_->network->initial_states(1)),
        writer_(model_->vocabulary.tokenization().unit) {
    const std::array first = {
        model_->vocabulary.line_end_id().value_or(0)};  // with which a Sampler begins, too
    read(first);
  }

  OpenModel& model() const { return *model_; }

  /// Reads symbols and returns their text.
  std::string feed(std::span<const std::int32_t> ids) {
    std::string text;
    for (const std::int32_t id : ids) text += writer_.next(model_->symbol(id));
    const bool are_several = ids.size() > 1;
    for (; !ids.empty(); ids = ids.subspan(std::min(ids.size(), piece)))
      read(ids.first(std::min(ids.size(), piece)));
    if (are_several)  // A state is a view of those of all steps, whose memory it would keep.
      states_ = mapped(states_, [](const Variable& x) { return Variable(clone(x.value())); });
    return text;
  }

  std::vector<real> logits() const { return model_->network->logits(last_).value().to_vector(); }

  /// Returns -log p of symbols, of which it reads all but the last.
  double score(std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids) model_->symbol(id);
    double nats = ids.empty() ? 0 : nats_of(last_, ids.first(1));
    while (ids.size() > 1) {
      const std::size_t count = std::min(ids.size() - 1, piece);
      nats += nats_of(read(ids.first(count)), ids.subspan(1, count));
      ids = ids.subspan(count);
    }
    return nats;
  }

 private:
  static constexpr std::size_t piece = StatesOfText::piece;

  LanguageModel::Output read(std::span<const std::int32_t> ids) {
    const std::int64_t count = std::ssize(ids);
    auto [output, states] = model_->network->forward({tokens({ids.begin(), ids.end()}), count, 1}, states_);
    last_ = output.rows(count - 1, count);
    states_ = std::move(states);
    return output;
  }
  double nats_of(const LanguageModel::Output& output, std::span<const std::int32_t> targets) const {
    const std::vector<real> each =
        model_->network->cross_entropy(output, tokens({targets.begin(), targets.end()})).each.to_vector();
    return std::max(0.0, std::accumulate(each.begin(), each.end(), 0.0));
  }

  std::shared_ptr<OpenModel> model_;
  std::vector<State> states_;
  LanguageModel::Output last_{};  // after the last symbol
  SymbolWriter writer_;
};

std::string continuation(Place place, std::size_t symbols, const rondo_sampling& how) {
  const SamplingOptions options{.temperature = how.temperature,
                                .top_k = how.top_k,
                                .top_p = how.top_p == 0 ? 1 : how.top_p,
                                .seed = how.seed,
                                .allow_unknown = how.allow_unknown != 0};
  const std::optional<std::int32_t> unknown = place.model().vocabulary.unknown_id();
  const bool stops = how.stop && *how.stop != '\0';
  StopStrings stop(stops ? std::vector<std::string>{how.stop} : std::vector<std::string>{});
  std::string text;
  for (std::size_t drawn = 0; drawn < symbols && !stop.stopped(); ++drawn) {
    const std::array id = {draw_symbol(place.logits(), options, drawn, unknown)};
    text += stop.take(place.feed(id));
  }
  return text + stop.rest();
}

// --- Handles ---

std::mutex handles_in_use;
std::uintptr_t last_handle = 0x10000000;  // so that no small number is one

/// The objects of the handles of one kind. They stay when a program ends, for its threads may still run.
template <class Object>
std::map<std::uintptr_t, std::shared_ptr<Object>>& objects() {
  static auto& all = *new std::map<std::uintptr_t, std::shared_ptr<Object>>;
  return all;
}

template <class Handle, class Object>
Handle* handle_of(std::shared_ptr<Object> object) {
  const std::lock_guard lock(handles_in_use);
  objects<Object>().emplace(last_handle + 1, std::move(object));
  return reinterpret_cast<Handle*>(++last_handle);
}

template <class Object>
std::shared_ptr<Object> object_of(const void* handle, bool is_closed = false) {
  const std::lock_guard lock(handles_in_use);
  const auto found = objects<Object>().find(reinterpret_cast<std::uintptr_t>(handle));
  constexpr const char* kind = std::is_same_v<Object, Place> ? "state" : "model";
  check_input(handle != nullptr, "this {} is NULL", kind);
  check_input(found != objects<Object>().end(), "this {0} is closed, or is no {0}", kind);
  std::shared_ptr<Object> object = found->second;
  if (is_closed) objects<Object>().erase(found);
  return object;
}

// --- Errors ---

thread_local std::array<char, 1024> last_error = {};

/// Returns what `body` does or, after an exception, `failed`.
template <class Result, class Body>
Result guarded(Result failed, const Body& body) noexcept {
  try {
    const NoGradient nothing_is_recorded;
    return body();
  } catch (const std::exception& error) {
    std::snprintf(last_error.data(), last_error.size(), "%s", error.what());
  } catch (...) {
    std::snprintf(last_error.data(), last_error.size(), "an unknown exception");
  }
  return failed;
}

/// Calls `body` with the place of a state, while nobody else uses its model.
template <class Result, class Body>
Result guarded_at(const rondo_state* state, Result failed, const Body& body) noexcept {
  return guarded(failed, [&] {
    const std::shared_ptr<Place> place = object_of<Place>(state);
    const std::lock_guard lock(place->model().used);
    return body(*place);
  });
}

template <class Item>
std::span<Item> span_of(Item* items, std::size_t count, const char* what) {
  check_input(items != nullptr || count == 0, "{} is NULL", what);
  return {items, count};
}
std::string_view view_of(const char* text, std::size_t length, const char* what) {
  const std::span<const char> bytes = span_of(text, length, what);
  return {bytes.data(), bytes.size()};
}

}  // namespace

extern "C" {

rondo_model* rondo_open(const char* run) {
  return guarded<rondo_model*>(nullptr, [&] {
    check_input(run != nullptr, "the name of the run is NULL");
    return handle_of<rondo_model>(open_model(run));
  });
}

int rondo_close(rondo_model* model) {
  return guarded(-1, [&] {
    object_of<OpenModel>(model, true);
    return 0;
  });
}

int64_t rondo_vocabulary_size(const rondo_model* model) {
  return guarded<int64_t>(-1, [&] { return object_of<OpenModel>(model)->vocabulary.size(); });
}

const char* rondo_symbol(const rondo_model* model, int32_t id, size_t* length) {
  return guarded<const char*>(nullptr, [&] {
    const std::string& symbol = object_of<OpenModel>(model)->symbol(id);
    if (length) *length = symbol.size();
    return symbol.c_str();
  });
}

int32_t rondo_id(const rondo_model* model, const char* symbol, size_t length) {
  return guarded<int32_t>(-1, [&] {
    const std::string_view bytes = view_of(symbol, length, "the symbol");
    const auto id = object_of<OpenModel>(model)->vocabulary.id(bytes);
    check_input(id.has_value(), "no symbol '{}' in the vocabulary", excerpt(bytes));
    return *id;
  });
}

int64_t rondo_encode(const rondo_model* model, const char* text, size_t length, int32_t* ids,
                     size_t capacity) {
  return guarded<int64_t>(-1, [&] {
    const std::span<int32_t> to = span_of(ids, capacity, "the array of ids");
    const std::shared_ptr<OpenModel> open = object_of<OpenModel>(model);
    const Vocabulary& vocabulary = open->vocabulary;
    check_input(vocabulary.tokenization().unit != Unit::pieces,
                "text cannot be divided into pieces without sentencepiece, which rondo::inference lacks");
    const std::vector<int32_t> all =
        vocabulary.encode(view_of(text, length, "the text"), "the text", LastLine::goes_on).ids;
    std::copy_n(all.begin(), std::min(all.size(), to.size()), to.begin());
    return std::ssize(all);
  });
}

rondo_state* rondo_begin(rondo_model* model) {
  return guarded<rondo_state*>(nullptr, [&] {
    std::shared_ptr<OpenModel> open = object_of<OpenModel>(model);
    const std::lock_guard lock(open->used);
    return handle_of<rondo_state>(std::make_shared<Place>(open));
  });
}

rondo_state* rondo_copy(const rondo_state* state) {
  return guarded_at<rondo_state*>(state, nullptr, [](const Place& place) {
    return handle_of<rondo_state>(std::make_shared<Place>(place));
  });
}

int rondo_end(rondo_state* state) {
  return guarded(-1, [&] {
    object_of<Place>(state, true);
    return 0;
  });
}

int rondo_feed(rondo_state* state, const int32_t* ids, size_t count) {
  return guarded_at(state, -1, [&](Place& place) {
    Place after = place;
    after.feed(span_of(ids, count, "the array of ids"));
    place = std::move(after);
    return 0;
  });
}

int rondo_probabilities(const rondo_state* state, float* probabilities, size_t count) {
  return guarded_at(state, -1, [&](const Place& place) {
    const std::vector<real> logits = place.logits();
    check_input(count == logits.size(), "{} probabilities, of {} symbols", count, logits.size());
    const std::span<float> to = span_of(probabilities, count, "the array of probabilities");
    const SoftmaxTerms terms(logits);
    std::ranges::transform(logits, to.begin(), [&](real it) {
      return static_cast<float>(std::exp(it - terms.largest) / terms.sum);
    });
    return 0;
  });
}

double rondo_score(const rondo_state* state, const int32_t* ids, size_t count) {
  return guarded_at(state, -1.0,
                    [&](Place place) { return place.score(span_of(ids, count, "the array of ids")); });
}

int64_t rondo_generate(const rondo_state* state, size_t symbols, const rondo_sampling* sampling, char* text,
                       size_t capacity) {
  return guarded_at<int64_t>(state, -1, [&](const Place& place) {
    const std::span<char> to = span_of(text, capacity, "the array for the text");
    const rondo_sampling usual{
        .temperature = 1, .top_k = 0, .top_p = 1, .seed = 1, .allow_unknown = 0, .stop = nullptr};
    const std::string all = continuation(place, symbols, sampling ? *sampling : usual);
    if (!to.empty()) *std::copy_n(all.begin(), std::min(all.size(), to.size() - 1), to.begin()) = '\0';
    return std::ssize(all);
  });
}

int rondo_set_threads(int count) {
  return guarded(-1, [&] {
    set_threads(count);
    return 0;
  });
}

const char* rondo_last_error(void) { return last_error.data(); }

}  // extern "C"
}  // namespace rondo
