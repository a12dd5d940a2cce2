// The data and the files with which a training begins, and what it says before its first step:
// lm/commands/training.h.
#include <algorithm>

#include "cuda/runtime.h"
#include "data/files/input_file.h"
#include "data/text/text.h"
#include "lm/commands/training.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/training/checkpoint.h"

namespace rondo {

// --- Its beginning ---

namespace {

/// What computes, with the GPU named so: "2 threads", "4 ranks of 1 thread", "cuda", "4 ranks of cuda".
std::string device_text(Device device, std::int64_t threads, std::int64_t ranks, const std::string& gpu) {
  const std::string text = device == Device::cpu ? counted_text(threads, "threads") : gpu;
  return ranks == 1 ? text : fmt::format("{} of {}", counted_text(ranks, "ranks"), text);
}

/// What the last digits of a run depend on: device, precision, threads and ranks.
std::string computed_with(const Provenance& it) {
  return fmt::format("{} in {}", device_text(it.device, it.threads, it.ranks, name_of(it.device)),
                     name_of(it.precision));
}

/// Where a resumed training continues.
std::string place_text(const Trainer& trainer) {
  const std::string place =
      trainer.steps() > 0
          ? fmt::format("step {} of {}", trainer.step_count(), trainer.steps())
          : fmt::format("step {}, epoch {} of {}", trainer.step_count(), trainer.epoch(), trainer.epochs());
  return trainer.done() ? fmt::format("finished already, at {}; --epochs N or --steps N train on", place)
                        : "resumed at " + place;
}

bool has_vocabularies(const RunFolder& run, const Recipe& recipe) {
  const std::vector<std::filesystem::path> files = vocabulary_paths(run, recipe);
  return std::ranges::all_of(files, file_is_there);
}

/// The run that has them: another run or, of a resumed one, itself. None if they are made from the text.
/// Throws InputError if they are missing.
std::optional<RunFolder> run_with_vocabularies(const PreparedTraining& training) {
  const Recipe& recipe = training.config.recipe;
  if (!training.keeps_vocabulary() && !(training.knows_text() && recipe.task->keeps_vocabulary()))
    return std::nullopt;
  // A run that was killed before it wrote its vocabularies takes those of the run that it began with.
  for (const RunFolder& run : {training.known_run(), training.base()})
    if (!run.path.empty() && has_vocabularies(run, recipe)) return run;
  check_input(!training.keeps_vocabulary(), "{}: its vocabulary is missing: restore it",
              training.known_run().path.string());
  return std::nullopt;
}

/// Throws InputError unless the vocabularies are those of the resumed or finetuned run.
void check_known_vocabulary(const PreparedTraining& training, const VocabularyFiles& vocabularies) {
  if (!training.knows_text()) return;
  const RunFolder known = training.known_run();
  check_vocabularies(known, training.config.made_by.vocabulary, vocabularies);
  VocabularyFiles found;
  for (const auto& [name, content] : vocabularies) {
    const std::filesystem::path file = known.path / name;
    found.emplace_back(name, file_is_there(file) ? read_vocabulary_file(file) : content);
  }
  check_vocabularies(known, training.config.made_by.vocabulary, found);
}

/// Records the digests of files that settings name beside the data. InputError if they are not those of the
/// resumed run.
void record_named_files(PreparedTraining& training) {
  const bool is_trained = training.has_base() || (training.resumes && file_is_there(training.run.state()));
  for (const NamedFile& it : training.task().named_files()) {
    if (it.path->empty() || it.key.empty() || (it.begins && is_trained)) continue;
    std::string& recorded = training.config.made_by.digest_of_named(it.key);
    check_input(file_is_there(*it.path), "{}: this file, which the recipe names, is not there: restore it",
                *it.path);
    const std::string sha256 = sha256_hex(InputFile(*it.path));
    check_input(!training.resumes || recorded.empty() || sha256 == recorded,
                "{}: has changed since this run was made: restore it", *it.path);
    recorded = sha256;
  }
}

}  // namespace

void read_data(const TrainOptions& options, PreparedTraining& training) {
  Task& task = training.task();
  const std::string& given = options.data;
  std::string& data = training.config.made_by.data;
  const bool is_given = !training.knows_text() || !given.empty();  // else the run's text is where it was
  check_input(given != "-",
              "--data -: a training reads its text more than once, and standard input cannot be "
              "read again; give a file or a folder");
  if (!is_given) check_text_is_there(training.config.made_by);
  if (is_given && (!given.empty() || task.reads_current_folder()))
    data = absolute_path(given.empty() ? "." : given).string();  // so that later commands find it
  try {
    task.open({.path = data,
               .pipes = is_given ? Pipes::accepted : Pipes::refused,
               .progress = reading_progress(stdout)});
  } catch (const NotUtf8& error) {
    const bool has_unit = training.knows_text() || training.keeps_vocabulary();  // of another run
    throw InputError(fmt::format("{}{}", error.what(), has_unit ? "" : ", or --set data.unit=bytes"));
  }
  if (training.knows_text() && !is_same_data(training.config.made_by.sha256, sha256_lines(task.files())))
    throw InputError(
        given.empty() ? name_of_text(data) +
                            ": the text has changed since this run was made; continuing would mix two texts"
                      : not_the_text(data));
  if (const std::optional<RunFolder> run = run_with_vocabularies(training))
    read_vocabularies(*run, read_config(*run), task);
  else
    task.make_vocabularies();
  fit_width(training.config.recipe, task.sizes());
  record_named_files(training);
  task.prepare();
  check_known_vocabulary(training, task.vocabularies());
}

void check_known_files(const PreparedTraining& training, const Module& layout) {
  const RunFolder& run = training.run;
  if (training.has_left(run.state())) check_state_layout(run.state(), layout);
  if (training.has_left(run.model())) check_model(run.model(), layout);
  if (training.has_base() && !training.has_left(run.state()) && !training.has_left(run.model()))
    check_model_layout(training.base().model(), layout);
}

int64_t load_begin(PreparedTraining& training) {
  const RunFolder& run = training.run;
  Trainer& trainer = *training.trainer;
  int64_t log_position = 0;
  if (training.has_left(run.state())) {
    log_position = trainer.load(run.state());
    check_input(!trainer.has_best() || training.has_left(run.model()),
                "{}: missing, though this run has a best model: restore it, or start a new run with another "
                "--out",
                run.model().string());
    LineFile::check_goes_on(run.log(), log_position, is_json_object);
  } else {
    // A run that was killed before its first state starts again: without a log, and without a model unless it
    // is that of its base.
    std::error_code ignored;
    const auto logged = std::filesystem::file_size(run.log(), ignored);
    const bool has_begun = (training.has_left(run.log()) && !ignored && logged > 0) ||
                           (training.has_left(run.model()) && !training.has_base());
    check_input(!has_begun,
                "{}: missing, so this run cannot be resumed: restore it, or start a new run with another "
                "--out",
                run.state().string());
    if (training.has_base())
      load_model(training.has_left(run.model()) ? run.model() : training.base().model(), *training.model);
    else
      training.notes = training.task().set_initial_values(*training.model);
  }
  if (trainer.step_count() == 0) training.task().check_gradients(*training.model);
  return log_position;
}

namespace {

/// Whether the vocabulary is of another text than the training text.
bool has_foreign_vocabulary(const PreparedTraining& training) {
  const LanguageModellingTask* task = training.config.recipe.language_modelling();
  return training.keeps_vocabulary() || (task && !task->settings.data.vocabulary_file.empty());
}

void write_known_files(const PreparedTraining& training) {
  write_config(training.run, training.config);
  for (const auto& [name, content] : training.task().vocabularies())
    write_atomically(training.run.path / name, content);
}

}  // namespace

void write_setup(const TrainOptions& options, PreparedTraining& training) {
  const Compute& compute = training.compute;
  auto& [recipe, made_by] = training.config;
  if (!training.resumes) {
    made_by.version = version();
    made_by.command = options.command;
    made_by.sha256 = sha256_lines(training.task().files());
    const std::vector<UnknownShare> shares = training.task().unknown_shares();
    made_by.unknown_is_trained |=
        has_foreign_vocabulary(training) && !shares.empty() && shares.front().unknowns > 0;
    training.run = make_run_folder(
        options.out, training.config.made_by.is_finetuned() ? recipe.name + "-finetuned" : recipe.name);
    training.lock.emplace(training.run.path);
  }
  made_by.device = compute.device;
  made_by.precision = compute.precision;
  made_by.threads = compute.threads;
  made_by.ranks = compute.ranks;
  made_by.vocabulary = digest_of(training.task().vocabularies());
  write_known_files(training);
}

void restore_setup(const PreparedTraining& training, TrainingReport& report) {
  std::vector<std::filesystem::path> files = vocabulary_paths(training.run, training.config.recipe);
  files.push_back(training.run.config());
  const auto gone = std::ranges::find_if_not(files, file_is_there);
  if (gone == files.end()) return;
  write_known_files(training);
  report.warn(fmt::format("{}: was removed during the training, and is written again", gone->string()));
}

void say_beginning(const PreparedTraining& training, TrainingReport& report) {
  const Compute& compute = training.compute;
  const auto& [recipe, made_by] = training.config;
  const Task& task = training.task();
  for (const std::string& note : task.notes()) report.line(note);
  for (const std::string& note : training.notes) report.line(note);
  for (const UnknownShare& share : task.unknown_shares()) {
    const std::string warning = warning_of_unknowns(share);
    report.warn(warning);
    if (warning.empty() && has_foreign_vocabulary(training)) report.line(share_text(share));
  }
  const bool on_gpu = compute.device == Device::cuda;
  const std::string where = device_text(compute.device, compute.threads, compute.ranks,
                                        on_gpu ? cuda::description() : std::string());
  report.line(fmt::format("{}: {} parameters, {}, {}, {}{}; the run is {}", recipe.name,
                          training.model->parameter_count(), task.size_text(), where,
                          name_of(compute.precision), on_gpu ? "" : " by " + kernels_text(compute.precision),
                          training.run.path.string()));
  if (training.resumes) report.line(place_text(*training.trainer));
  const std::string then = computed_with(training.before), now = computed_with(made_by);
  if (training.resumes && then != now)
    report.line(fmt::format("this run was computed with {} and continues with {}: {} may differ", then, now,
                            training.before.precision == made_by.precision ? "the last digits" : "digits"));
  if (const std::string& from = made_by.initialized_from;
      !from.empty() && !training.config.made_by.is_finetuned())
    report.line(fmt::format(
        "it began with the weights and the vocabulary of {}{}", from,
        recipe.trainer.steps > 0
            ? fmt::format(", and ends after {} (train.steps)", counted_text(recipe.trainer.steps, "steps"))
            : ""));
  if (recipe.trainer.averaging == Averaging::always && training.trainer->step_count() == 0)
    report.line("the average of the weights after each step, from the first on, is evaluated and kept");
}

}  // namespace rondo
