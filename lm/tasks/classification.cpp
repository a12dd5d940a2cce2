// Classification of sentences as a task.
#include "lm/tasks/classification.h"

#include "autograd/operators/arithmetic.h"
#include "lm/tasks/task.h"
#include "nn/cells/catalogue.h"

namespace rondo {

Keys keys_of(ClassificationOptions& options) { return keys_of(options.batches); }

Classification::Classification(SentenceClassifier& model, const ClassificationOptions& options,
                               const LabelledSentences& train, const LabelledSentences& valid, uint64_t seed)
    : SentenceObjective(LabelledBatches(options.batches, train, seed)), model_(model), valid_(valid) {}

void Classification::stage(Batch& batch) const {
  batch.indices = {staged_.sentences.ids, staged_.labels};
  batch.scored = staged_.share.whole;
}

Loss Classification::loss(int64_t, const std::vector<Tokens>& indices, RandomContext random) {
  begin_update(random);
  const CrossEntropy nats =
      model_.cross_entropy(model_.summary(input_of(staged_.sentences, indices[0])), indices[1]);
  return {nats.total / static_cast<real>(staged_.share.whole), {nats.each}};
}

std::string Classification::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or the longest sentences smaller; the largest batch has {} sentences "
      "of "
      "{} symbols",
      staged_.sentences.sentences, staged_.sentences.steps);
}

Scores Classification::evaluate(const std::function<void(int64_t)>& progress) {
  return evaluate_classifier(model_, valid_, progress);
}

// --- The task ---

Sections ClassificationTask::sections() {
  return {.data = joined({keys_of(settings.files), keys_of(settings.tokenization), keys_of(settings.limits)}),
          .model = keys_of(settings.model),
          .train = keys_of(settings.train)};
}

void ClassificationTask::check(const std::string& where) const {
  check_section(where, "data", settings.files);
  check_section(where, "data", settings.tokenization);
  check_section(where, "data", settings.limits);
  check_section(where, "", settings.model);
  check_rows_at_once(where, traits_of(settings.model.cell).looks_across_rows, "train.batch",
                     settings.train.batches.batch);
  check_input(
      settings.tokenization.unit != Unit::bytes || settings.files.encoding == Encoding::utf8,
      "{}: data.encoding = \"{}\" is for words and characters; bytes are read as they are: leave it out",
      where, name_of(settings.files.encoding));
}

std::string ClassificationTask::model_text() const {
  const SentenceClassifierOptions& it = settings.model;
  return fmt::format("{}{} x {} {}, {} over time", it.bidirectional ? "bidirectional " : "", it.layers,
                     it.hidden, it.cell, name_of(it.summary));
}

void ClassificationTask::open(const DataSource& source) {
  check_input(!source.path.empty(), "which text? give --data a folder with {}", settings.files.train);
  texts_ = open_labelled_texts(source.path, settings.files, settings.tokenization.unit);
}

void ClassificationTask::open_other(const std::string& path, const DataSource& /*source*/) {
  Text file = read_labelled_file(path, settings.files.encoding, settings.tokenization.unit);
  texts_.files = {{file.name, file.sha256}};
  texts_.notes = file.notes;
  texts_.test = labelled_text(std::move(file));
}

void ClassificationTask::make_vocabularies() {
  vocabulary_.emplace(texts_.train.sentences, settings.tokenization, settings.limits);
  labels_.emplace(texts_.train);
}

std::vector<std::string> ClassificationTask::vocabulary_names() const {
  std::vector<std::string> names = SentenceTask::vocabulary_names();
  names.emplace_back("labels.txt");
  return names;
}

VocabularyFiles ClassificationTask::vocabularies() const {
  VocabularyFiles files = SentenceTask::vocabularies();
  files.emplace_back("labels.txt", labels_->to_text());
  return files;
}

void ClassificationTask::set_vocabularies(const VocabularyFiles& files, const std::string& folder) {
  SentenceTask::set_vocabularies(files, folder);
  labels_ = Labels::from_text(content_among(files, "labels.txt"), folder + "/labels.txt");
}

LabelledSentences ClassificationTask::encode(Split split) const {
  return encode_labelled(texts_.at(split), *vocabulary_, *labels_);
}

std::vector<UnknownShare> ClassificationTask::unknown_shares() const {
  std::vector<UnknownShare> shares;
  for (const auto& [split, it] : encoded_)
    shares.push_back(share_of(texts_.at(split).sentences, it.sentences, *vocabulary_, false));
  return shares;
}

void ClassificationTask::assume(const std::vector<std::int64_t>& sizes) {
  const std::int64_t length = length_within(0), count = sentences_of(settings.train.batches, length);
  for (const Split split : {Split::train, Split::valid})
    encoded_[split] = {some_sentences(count, length, sizes.at(0)),
                       some_ids(static_cast<double>(count), sizes.at(1))};
}

std::string ClassificationTask::size_text() const {
  const LabelledSentences& train = encoded_.at(Split::train);
  return fmt::format("{} sentences of {} classes, {} symbols, {}", train.size(), labels_->size(),
                     train.sentences.symbols(), vocabulary_text(vocabulary_->size()));
}

std::unique_ptr<Module> ClassificationTask::make_model(const std::vector<std::int64_t>& sizes,
                                                       std::uint64_t seed, Device device) const {
  return std::make_unique<SentenceClassifier>(settings.model, sizes.at(0), sizes.at(1), seed, device);
}

std::unique_ptr<Objective> ClassificationTask::make_objective(Module& model, std::uint64_t seed) {
  return std::make_unique<Classification>(own(model), settings.train, encoded(Split::train),
                                          encoded(Split::valid), seed);
}

Scores ClassificationTask::measure(Module& model, const std::string& split, const ProgressOf& progress_of) {
  const LabelledSentences& sentences = encoded(split_from_string(split));
  return evaluate_classifier(own(model), sentences, progress_of("evaluating " + split, sentences.size()));
}

std::vector<LineAnswer> ClassificationTask::answer(Module& model, const std::vector<InputLine>& lines) {
  EncodedLines encoded = encode_lines(lines, *vocabulary_);
  Sentences sentences;
  for (const std::vector<std::int32_t>& ids : encoded.ids) sentences.add(ids);
  const std::vector<MostProbableClass> classes = most_probable_classes(own(model), sentences);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    LineAnswer& answer = encoded.answers[encoded.lines[i]];
    answer.text = labels_->name(classes[i].id);
    answer.probability = classes[i].probability;
  }
  return encoded.answers;
}

}  // namespace rondo
