// The setup of a training.
#include "lm/program/train_setup.h"

#include "cuda/runtime.h"
#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/finetune.h"
#include "lm/program/json_lines.h"
#include "lm/program/memory_estimate.h"
#include "lm/program/recipes.h"
#include "lm/program/run.h"
#include "lm/program/version.h"
#include "lm/tasks/self_test.h"
#include "lm/training/checkpoint.h"
#include "tensor/available_memory.h"
#include "tensor/gemm.h"

namespace rondo {
namespace {

/// The path of the text, absolute, so that a later command finds it from any folder. With data.files the
/// default is the current folder.
std::string place_of(const std::string& data, const Recipe& recipe) {
  if (data.empty() && recipe.data.files.empty()) return data;
  return std::filesystem::absolute(data.empty() ? "." : data).lexically_normal().string();
}

/// What the last digits of a run depend on: device, precision and threads.
std::string computed_with(Device device, Precision precision, std::int64_t threads) {
  return device == Device::cpu ? fmt::format("{} threads", threads)
                               : fmt::format("{} in {}", name_of(device), name_of(precision));
}

}  // namespace

Setup::Setup(const TrainOptions& options) : resumes(options.resume) {
  if (options.resume) {
    run = open_run_folder(options.out);
    lock.emplace(run.path);
    config = read_config(run);
    for (const Setting& setting : options.settings) apply_setting(setting, keys_of(config.recipe));
    return;
  }
  if (options.base.empty())
    config.recipe = resolve_recipe(options.recipe, options.settings);
  else
    config = finetuning_of(options.base, options.settings);
  check_new_run_folder(options.out);
}

Compute compute_of(const TrainOptions& options, const Setup& setup) {
  if (!setup.resumes)
    return choose_device(options.device.value_or(Device::cpu), options.precision, options.threads);
  const Provenance& before = setup.config.made_by;
  const Device device = options.device.value_or(before.device);
  std::optional<Precision> precision = options.precision;
  if (!precision && device == Device::cuda) precision = before.precision;
  return choose_device(device, precision, options.threads.value_or(static_cast<int>(before.threads)));
}

CorpusText text_of(const TrainOptions& options, Setup& setup) {
  Provenance& made_by = setup.config.made_by;
  const bool is_known = setup.resumes || setup.finetunes(), is_given = !is_known || !options.data.empty();
  if (is_given) made_by.data = place_of(options.data, setup.config.recipe);
  CorpusText text =
      open_text(setup.config.recipe.data, made_by.data, is_given ? Pipes::accepted : Pipes::refused);
  check_input(!is_known || is_same_text(made_by.sha256, text),
              "{}: the text has changed since this run was made; continuing would mix two texts",
              made_by.data);
  return text;
}

void check_known_vocabulary(const Setup& setup, const std::string& symbols) {
  if (!setup.resumes && !setup.finetunes()) return;
  const RunFolder known = setup.known_run();
  check_vocabulary(known, setup.config.made_by, symbols);
  if (file_is_there(known.vocabulary())) read_vocabulary(known, setup.config);
}

void check_known_files(const Setup& setup, const Module& layout) {
  const auto left = [&](const std::filesystem::path& file) { return setup.resumes && file_is_there(file); };
  const RunFolder& run = setup.run;
  if (left(run.state())) check_state_layout(run.state(), layout);
  if (left(run.model())) check_model(run.model(), layout);
  if (setup.finetunes() && !left(run.state()) && !left(run.model()))
    check_model_layout(setup.base().model(), layout);
}

void check_memory(const Recipe& recipe, const LanguageModel& layout, const Corpus& corpus,
                  const Vocabulary& vocabulary, Device device) {
  const auto available = available_memory(device);
  if (!available) return;
  const Batches batches(recipe.task.batches, corpus.train.ids, vocabulary.line_end_id());
  check_fits(recipe, layout, *available, [&](int64_t streams) {
    return batches.max_size(streams, !leaves_out_padding(layout.options(), device));
  });
}
int64_t load_begin(Training& training, bool resume, const RunFolder& run, const Provenance& made_by) {
  const auto left = [&](const std::filesystem::path& file) {  // by the resumed run
    return resume && file_is_there(file);
  };
  const bool finetunes = !made_by.finetuned_from.empty();
  int64_t log_position = 0;
  if (left(run.state())) {
    log_position = training.trainer.load(run.state());
    check_input(!training.trainer.has_best() || left(run.model()),
                "{}: missing, though this run has a best model: restore it, or start a new run with another "
                "--out",
                run.model().string());
    LineFile::check_goes_on(run.log(), log_position, is_json_object);
  } else {
    // A run that was killed before its first state starts again: it has no log and no model, except that a
    // finetuned run has its base's.
    std::error_code ignored;
    const auto logged = std::filesystem::file_size(run.log(), ignored);
    const bool has_begun = (left(run.log()) && !ignored && logged > 0) || (left(run.model()) && !finetunes);
    check_input(!has_begun,
                "{}: missing, so this run cannot be resumed: restore it, or start a new run with another "
                "--out",
                run.state().string());
    if (finetunes)
      load_model(left(run.model()) ? run.model() : RunFolder{made_by.finetuned_from}.model(), training.model);
  }
  if (training.trainer.step_count() == 0) check_gradients_reach_all(training.model);
  return log_position;
}

void write_setup(const TrainOptions& options, Setup& setup, const Compute& compute, const CorpusText& text,
                 const std::string& symbols) {
  auto& [recipe, made_by] = setup.config;
  if (!setup.resumes) {
    made_by.version = version();
    made_by.command = options.command;
    made_by.sha256 = sha256_lines(text);
    setup.run = make_run_folder(options.out, setup.finetunes() ? recipe.name + "-finetuned" : recipe.name);
    setup.lock.emplace(setup.run.path);
  }
  made_by.device = compute.device;
  made_by.precision = compute.precision;
  made_by.threads = compute.threads;
  made_by.vocabulary = sha256_hex(symbols);
  write_config(setup.run, setup.config);
  write_atomically(setup.run.vocabulary(), symbols);
}

void say_beginning(const Setup& setup, const Provenance& before, const Compute& compute,
                   const CorpusText& text, Training& training, const Corpus& corpus,
                   const Vocabulary& vocabulary, Terminal& terminal) {
  const auto& [recipe, made_by] = setup.config;
  for (const std::string& note : text.notes) terminal.line(note);
  terminal.line(fmt::format("{}: {} parameters, {} symbols of {} types, {}; the run is {}", recipe.name,
                            training.model.parameter_count(), corpus.train.ids.size(), vocabulary.types(),
                            compute.device == Device::cuda
                                ? fmt::format("{}, {}", cuda::description(), name_of(compute.precision))
                                : fmt::format("{} threads, {} kernels", compute.threads, blas_kernel()),
                            setup.run.path.string()));
  const std::string then = computed_with(before.device, before.precision, before.threads),
                    now = computed_with(made_by.device, made_by.precision, made_by.threads);
  if (setup.resumes && then != now)
    terminal.line(fmt::format("this run was computed with {} and continues with {}: {} may differ", then, now,
                              before.precision == made_by.precision ? "the last digits" : "digits"));
  if (recipe.trainer.averaging == Averaging::always && training.trainer.step_count() == 0)
    terminal.line("the average of the weights after each step, from the first on, is evaluated and kept");
}

}  // namespace rondo
