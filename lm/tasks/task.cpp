// What the tasks share.
#include "lm/tasks/task.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "data/text/text.h"
#include "data/text/unicode.h"
#include "lm/evaluation/evaluation.h"
#include "tensor/allocator.h"
#include "tensor/error.h"

namespace rondo {

// --- Task ---

UnknownShare share_of(const Text& text, const Sentences& sentences, const Vocabulary& vocabulary,
                      bool is_predicted) {
  const std::optional<std::int32_t> unknown = vocabulary.unknown_id();
  return {text.name, unknown ? sentences.count(*unknown) : 0, sentences.symbols(), is_predicted};
}

void Task::choose_part(const std::string& name, const std::string& where) {
  throw InputError(fmt::format("{} {}: this run has one task alone", where, name));
}

std::string Task::sizes_text(const Sizes& sizes) const {
  return fmt::format("{} {}", fmt::join(sizes, " and "), name_of(tokenization().unit));
}

void Task::open_other(const std::string& path, const DataSource& /*source*/) {
  throw InputError(
      fmt::format("{}: this task is measured on its own text alone: choose it by --split", path));
}

std::vector<LineAnswer> Task::answer(Module& /*model*/, const std::vector<InputLine>& /*lines*/) {
  throw InputError("this task answers no lines");
}

namespace {

/// Adds the gradients of the staged batch.
void add_gradients(Objective& objective, Batch batch, std::uint64_t number) {
  std::optional<StepMemory> of_gpu;
  if (is_gpu(objective.model().device())) of_gpu.emplace(objective.model().device());
  const std::vector<Tokens> indices = tokens_of(std::move(batch.indices));
  for (std::int64_t part = 0; part < batch.parts; ++part) {
    Loss loss = objective.loss(part, indices, {.seed = 1, .update = number});
    if (loss.minimised.defined()) std::exchange(loss.minimised, {}).backward();
    objective.carry_state(part);
  }
  objective.end_batch(static_cast<std::int64_t>(number) + 1);
}

}  // namespace

void Task::check_gradients(Module& model) {
  constexpr std::uint64_t most = 100;  // batches: some symbols are rare, and weight drop can drop all
  const EvaluationMode mode_is_restored(model);
  model.set_training(true);       // with weight drop the gradient flows through another tensor
  model.set_statistics_rate({});  // those of batch normalisation do not change
  std::vector<std::string> missed;
  for (const Segment& segment : model.segments())
    if (is_trained(segment.name)) missed.push_back(segment.name);
  fill(model.gradients(), 0);
  const std::unique_ptr<Objective> objective = make_objective(model, 1);
  std::uint64_t number = 0;
  const auto learn = [&](Batch batch) {
    add_gradients(*objective, std::move(batch), number++);
    for (const Segment& segment : model.segments()) {
      const auto name = std::ranges::find(missed, segment.name);
      if (name == missed.end()) continue;
      const std::vector<real> gradient = part_of(model.gradients(), segment).to_vector();
      if (std::ranges::any_of(gradient, [](real x) { return x != 0; })) missed.erase(name);
    }
  };
  for (Batch batch; !missed.empty() && objective->stage_extreme(batch, number); batch = {})
    learn(std::move(batch));
  objective->begin_epoch(1);
  for (Batch batch; !missed.empty() && number < most && objective->next_batch(batch); batch = {})
    learn(std::move(batch));
  fill(model.gradients(), 0);
  model.values().storage().packs.clear();  // of products that a training may not have
  rondo::check(
      missed.empty(),
      "no gradient reaches {}: training would leave {} as {}. A cell that does not use all its weights, or "
      "initial values that are all 0, are the usual causes",
      fmt::join(missed, ", "), missed.size() == 1 ? "it" : "them", missed.size() == 1 ? "it is" : "they are");
}

void check_rows_at_once(const std::string& where, bool looks_across_rows, const std::string& key,
                        std::int64_t rows) {
  check_input(
      !looks_across_rows || rows > 1,
      "{}: {} = {}: batch normalisation takes statistics over the rows that are computed at once: set "
      "it to 2 or more",
      where, key, rows);
}

namespace {

std::string pieces_beside(const std::string& name) {
  return name.substr(0, name.find_last_of('.')) + ".pieces";
}

}  // namespace

VocabularyFiles files_of(const Vocabulary& vocabulary, const std::string& name) {
  VocabularyFiles files;
  if (vocabulary.pieces()) files.emplace_back(pieces_beside(name), vocabulary.pieces()->bytes());
  files.emplace_back(name, vocabulary.to_text());
  return files;
}

std::vector<std::string> names_of_files(const std::string& name, const Tokenization& tokenization) {
  if (tokenization.unit == Unit::pieces) return {pieces_beside(name), name};
  return {name};
}

const std::string& content_among(const VocabularyFiles& files, const std::string& name) {
  const auto found = std::ranges::find_if(files, [&](const auto& it) { return it.first == name; });
  check(found != files.end(), "[task] no file {}", name);
  return found->second;
}

Vocabulary vocabulary_among(const VocabularyFiles& files, const std::string& name, const std::string& folder,
                            const Tokenization& tokenization) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  Vocabulary vocabulary = Vocabulary::from_text(content_among(files, name), path, tokenization);
  if (tokenization.unit == Unit::pieces && has_sentencepiece())
    vocabulary.read_pieces(content_among(files, pieces_beside(name)), pieces_beside(path));
  return vocabulary;
}

constexpr std::uint64_t largest_vocabulary = 256 << 20;  // of tens of millions of words

std::string read_vocabulary_file(const std::filesystem::path& file) {
  return read_file(file, Pipes::refused, largest_vocabulary);
}

Vocabulary read_vocabulary(const std::filesystem::path& file, const Tokenization& tokenization) {
  const std::string name = file.filename().string();
  VocabularyFiles files{{name, read_text(file, Pipes::refused, largest_vocabulary).content}};
  if (tokenization.unit == Unit::pieces && has_sentencepiece())
    files.emplace_back(pieces_beside(name), read_vocabulary_file(pieces_beside(file.string())));
  return vocabulary_among(files, name, file.parent_path().string(), tokenization);
}

std::vector<std::string> symbols_written(const Vocabulary& vocabulary, const std::string& text,
                                         const std::string& name, LastLine last) {
  SymbolReader reader(text, vocabulary.tokenization(), name, last, vocabulary.pieces());
  std::vector<std::string> symbols;
  while (const auto symbol = reader.next()) symbols.emplace_back(*symbol);
  return symbols;
}

std::string text_of_line(std::string line, Unit unit) {
  if (unit != Unit::bytes && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
  if (unit != Unit::bytes && line.ends_with('\r')) line.pop_back();
  return line + '\n';
}

std::vector<std::int32_t> encoded_line(const Vocabulary& vocabulary, const std::string& text,
                                       const std::string& name) {
  if (vocabulary.tokenization().unit != Unit::bytes) code_points(text, name);
  if (stripped(text).empty()) return {};
  return vocabulary.encode(text, name).ids;
}

EncodedLines encode_lines(const std::vector<InputLine>& lines, const Vocabulary& vocabulary) {
  EncodedLines result{.answers = std::vector<LineAnswer>(lines.size()), .ids = {}, .lines = {}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [line, name] = lines[i];
    auto ids = encoded_line(vocabulary, text_of_line(line, vocabulary.tokenization().unit), name);
    if (ids.empty()) continue;
    result.answers[i].symbols = std::ssize(ids);
    if (const auto unknown = vocabulary.unknown_id())
      result.answers[i].unknowns = std::ranges::count(ids, *unknown);
    result.ids.add(ids);
    result.lines.push_back(i);
  }
  return result;
}

std::string counted_text(std::int64_t count, const std::string& of_many) {
  const std::string of_one = of_many.ends_with('s') ? of_many.substr(0, of_many.size() - 1) : of_many;
  return fmt::format("{} {}", count, count == 1 ? of_one : of_many);
}

std::string vocabulary_text(std::int64_t size) { return "a vocabulary of " + counted_text(size, "symbols"); }

// --- Made-up data ---

std::vector<std::int32_t> some_ids(double count, std::int64_t V) {
  constexpr double most = 1 << 20, golden_ratio = 1.618033988749895;
  check_input(count <= most,
              "a batch of {:.3g} symbols is too large: make train.batch or the lengths of its texts "
              "smaller",
              count);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  double place = 0;
  for (std::int32_t& id : ids) {
    place = std::fmod(place + golden_ratio, 1.0);
    id = static_cast<std::int32_t>(std::pow(std::min(static_cast<double>(V), 1e6), place)) - 1;
  }
  return ids;
}

Sentences some_sentences(std::int64_t count, std::int64_t length, std::int64_t V) {
  std::vector<std::int32_t> ids = some_ids(static_cast<double>(count) * static_cast<double>(length), V);
  Sentences sentences;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto sentence =
        std::span(ids).subspan(static_cast<std::size_t>(i * length), static_cast<std::size_t>(length));
    sentence.back() = 0;
    sentences.add(sentence);
  }
  return sentences;
}

Vocabulary some_vocabulary() {
  Vocabulary vocabulary({.unit = Unit::characters});
  for (const char* symbol : {"\n", "a"}) vocabulary.add(symbol);
  return vocabulary;
}

std::int64_t sentences_of(const SentenceBatchOptions& batches, std::int64_t length) {
  return batches.by == BatchBy::sentences ? batches.batch : std::max<std::int64_t>(1, batches.batch / length);
}

std::int64_t length_within(std::int64_t max_length) { return max_length > 0 ? max_length + 1 : 40; }

}  // namespace rondo
