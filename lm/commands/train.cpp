// `lm train` and `lm finetune`: their options, the settings of the run, and what is prepared before the first
// step. The training: lm/commands/training.cpp.
#include <limits>

#include "cuda/all_reduce.h"
#include "lm/commands/options.h"
#include "lm/commands/training.h"
#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/tasks/skip_thought.h"
#include "lm/training/memory.h"
#include "tensor/allocator.h"

namespace rondo {

// --- Settings that begin with a run ---

namespace {

/// Throws InputError for a setting that a training from given weights cannot change: what the run is, and the
/// model but for its dropout. `where` names the training.
void check_keeps_model(const Setting& setting, const Key& key, const std::string& where) {
  const bool is_of_model = setting.key.starts_with("model.") && !key.training_only;
  check_input(!is_of_model && !setting.key.starts_with("recipe."),
              "{}: cannot change {}; the model is that of its run, but for its dropout", setting.where,
              where);
}

/// Throws InputError for a run of `lm quantize`.
void check_not_int8(const RunFolder& run, const RunConfig& config) {
  check_input(
      config.made_by.precision != Precision::int8,
      "{}: its weights are in int8, for use and not for training; train the run that it was made of: {}",
      run.path.string(), config.made_by.command);
}

/// Throws InputError unless the run can be finetuned; it says how to finish a training.
void check_finished(const RunFolder& run, const RunConfig& config) {
  const Recipe& recipe = config.recipe;
  const std::string folder = run.path.string();
  check_not_int8(run, config);
  check_input(recipe.language_modelling(), "{}: a run of the task {}, and finetuning is for language models",
              folder, recipe.task_name);
  check_input(file_is_there(run.model()), "{}: holds no model to finetune yet; train it first: {}", folder,
              resume_command(run.path));
  check_input(config.made_by.is_imported() ||
                  (file_is_there(run.state()) && is_finished(recipe.trainer, run.state())),
              "{}: its training is not finished; finish it first: {}", folder, resume_command(run.path));
}

/// What a finetuning changes in the recipe of its base: averaged SGD at a constant rate.
void apply_finetuning(Recipe& recipe, const std::string& base) {
  TrainerOptions& trainer = recipe.trainer;
  const OptimizerOptions before = trainer.optimizer;
  const std::optional<double> rate = recipe.finetune.learning_rate;
  check_input(rate || before.kind == OptimizerKind::sgd,
              "{}: the run was trained with {}, whose rate does not suit the SGD of finetuning: give one, as "
              "in --set finetune.learning_rate=1",
              base, name_of(before.kind));
  trainer.epochs = recipe.finetune.epochs;
  trainer.optimizer = {.kind = OptimizerKind::sgd,
                       .learning_rate = rate ? rate : before.learning_rate,
                       .weight_decay = before.weight_decay};
  trainer.schedule = {};
  trainer.averaging = Averaging::always;
  trainer.early_stopping = 0;
  trainer.non_monotonic_stopping = true;
  recipe.published.trained = recipe.published.finetuned;
}

/// Throws InputError unless a finetuning of a trained model may change this key.
void check_may_change_in_finetuning(const Setting& setting, const Key& set) {
  const std::string& key = setting.key;
  check_keeps_model(setting, set, "in a finetuning");
  check_input(!key.starts_with("data."),
              "{}: cannot change in a finetuning; the model knows the symbols of its run", setting.where);
  for (const std::string name : {"learning_rate", "epochs"})
    check_input(key != "train." + name, "{}: cannot change in a finetuning; set finetune.{}", setting.where,
                name);
  check_input(!is_decided_by_finetuning(key),
              "{}: cannot change in a finetuning, which is averaged SGD at a constant rate until validation "
              "no longer falls",
              setting.where);
}

/// Returns the config of a run that finetunes `base`, as in Merity et al. 2018, section 4: SGD at a constant
/// rate, averaging the weights after each step (without the initial weights), until the non-monotonic
/// criterion (optim/validation.h) stops it. Its published figures are those of the finetuned model.
/// Throws InputError for a setting that a trained model cannot change or that finetuning determines.
RunConfig finetuning_of(const std::string& base, const std::vector<Setting>& settings) {
  const RunFolder run = open_run_folder(base);
  RunConfig config = read_config(run);
  check_finished(run, config);
  config.recipe.trainer.steps = 0;  // of the base's training
  const std::vector<Key> keys = keys_of(config.recipe);
  for (const Setting& setting : settings)
    check_may_change_in_finetuning(setting, apply_setting(setting, keys));
  if (!changed_keys(config.recipe, false).empty()) config.recipe.published = {};  // of another base
  apply_finetuning(config.recipe, base);
  validate(config.recipe, base);
  config.made_by.finetuned_from = absolute_path(run.path).string();
  return config;
}

/// Throws InputError unless a training that begins with a run's weights and vocabulary may change this key.
void check_may_change_beside_vocabulary(const Setting& setting, const Key& set) {
  const std::string& key = setting.key;
  Tokenization tokenization;
  VocabularyLimits limits;
  const Keys of_symbols = section("data", joined({keys_of(tokenization), keys_of(limits)}));
  check_input(!has_key(of_symbols, key) && !key.starts_with("data.vocabulary"),
              "{}: cannot change with --init-from; the vocabulary is that of its run", setting.where);
  check_keeps_model(setting, set, "with --init-from");
}

/// Returns the settings of a run with the weights and vocabulary of `base`, changed by `settings`, to train
/// on another text. (On the same text: finetuning_of().) InputError if the base has no model, is of a task
/// whose vocabulary cannot be kept, or if a setting would change the model or what its symbols are.
RunConfig initialization_from(const std::string& base, const std::vector<Setting>& settings) {
  const RunFolder run = open_run_folder(base);
  RunConfig config = read_config(run);
  check_not_int8(run, config);
  Recipe& recipe = config.recipe;
  const std::string why = recipe.task->belongs_to_data();
  check_input(why.empty(), "--init-from {}: a run of the task {}, which cannot begin on other data: {}",
              run.path.string(), recipe.task_name, why);
  check_input(file_is_there(run.model()), "--init-from {}: holds no model yet; train it first: {}",
              run.path.string(), resume_command(run.path));
  if (recipe.language_modelling()) recipe.language_model().data.files.clear();  // patterns of the base's text
  const Keys keys = keys_of(recipe);
  for (const Setting& setting : settings)
    check_may_change_beside_vocabulary(setting, apply_setting(setting, keys));
  let_given_epochs_end(recipe, settings);
  recipe.published = {};  // figures of the paper's training
  validate(recipe, base);
  config.made_by = {.initialized_from = absolute_path(run.path).string(),
                    .unknown_is_trained = config.made_by.unknown_is_trained};
  return config;
}

// --- Before the training ---

/// The settings of a training that is not resumed.
RunConfig new_config(const TrainOptions& options) {
  if (!options.base.empty()) return finetuning_of(options.base, options.settings);
  if (!options.init_from.empty()) return initialization_from(options.init_from, options.settings);
  return {resolve_recipe(options.recipe, options.settings), {}};
}

/// Where a resumed run computes: it keeps its device, its threads, and on a GPU its precision, so that it
/// ends with the same bits.
ComputeOptions as_before(ComputeOptions chosen, const Provenance& before) {
  if (!chosen.device) chosen.device = before.device;
  const bool cpu_cannot = chosen.device == Device::cpu && before.precision == Precision::tf32;
  if (!chosen.precision && !cpu_cannot) chosen.precision = before.precision;
  if (!chosen.threads) chosen.threads = static_cast<int>(before.threads);
  return chosen;
}

}  // namespace

PreparedTraining::PreparedTraining(const TrainOptions& options, bool leads) : resumes(options.resume) {
  const ComputeOptions& given = options;
  ComputeOptions chosen = given;
  if (resumes) {
    run = open_run_folder(options.out);
    if (leads) lock.emplace(run.path);
    config = read_config(run);
    check_input(config.made_by.imported_from.empty() || has_base(),
                "{}: imported, so there is no training to resume; to train it further: {}", run.path.string(),
                command_with({"finetune", run.path.string(), "--data", "DIR"}));
    check_not_int8(run, config);
    for (const Setting& setting : options.settings) apply_setting(setting, keys_of(config.recipe));
    let_given_epochs_end(config.recipe, options.settings);
    before = config.made_by;
    chosen = as_before(given, before);
  } else {
    config = new_config(options);
    check_new_run_folder(options.out);
  }
  check_input(chosen.precision != Precision::int8, "--precision {}: for using a model, not for training",
              name_of(Precision::int8));
  compute = choose_device(chosen);
  read_data(options, *this);
  const TrainerOptions& how = recipe().trainer;
  check_known_files(*this, *task().make_layout(task().sizes()));
  const auto seed = static_cast<std::uint64_t>(how.seed);
  const auto make_model = [&](Device device) { return task().make_model(task().sizes(), seed, device); };
  const auto make_objective = [&](Module& of) { return task().make_objective(of, seed); };
  measure_training_memory(
      compute.device, how, make_model, make_objective,
      available_memory(compute.device).value_or(std::numeric_limits<std::int64_t>::max()));
  model = make_model(compute.device);
  objective = make_objective(*model);
  trainer = std::make_unique<Trainer>(*objective, how);
  if (const auto* skip_thought = dynamic_cast<const SkipThoughtTask*>(&task()))
    if (const auto& of_task = skip_thought->settings.train; of_task.sentences_every > 0)
      sentence_sets = read_sentence_sets(of_task.sentence_sets);
  log_position = load_begin(*this);
  check_input(how.steps > 0 || trainer->epoch() <= how.epochs + 1,
              "--epochs {}: this run has trained {} epochs already; give that many or more", how.epochs,
              trainer->epoch() - 1);
  check_input(how.steps == 0 || trainer->step_count() <= how.steps,
              "--steps {}: this run has trained {} steps already; give that many or more", how.steps,
              trainer->step_count());
}

namespace {

/// Returns a digest of all that ranks must have in common.
std::string shared_digest(const PreparedTraining& it) {
  Recipe recipe = it.recipe();
  std::string all = write_toml(keys_of(recipe)) + digest_of(it.task().vocabularies());
  for (const std::string& digest : digests_of(sha256_lines(it.task().files()))) all += digest;
  const std::vector<real> weights = it.model->values().to_vector();
  all += sha256_hex({reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(real)});
  all += fmt::format(" {} {} {}", it.trainer->step_count(), name_of(it.compute.device),
                     name_of(it.compute.precision));
  return sha256_hex(all);
}

/// On all ranks, or on none.
std::unique_ptr<PreparedTraining> prepare(const TrainOptions& options, Ranks* ranks) {
  std::unique_ptr<PreparedTraining> it;
  if (!ranks) return std::make_unique<PreparedTraining>(options, true);
  std::string digest;
  prepare_together(*ranks, [&] {
    it = std::make_unique<PreparedTraining>(options, ranks->leads());
    const std::string why_not = it->compute.device == Device::cuda ? cuda::why_no_all_reduce() : "";
    check_input(why_not.empty(), "several ranks on GPUs: {}; or use --device cpu", why_not);
    digest = shared_digest(*it);
  });
  check_same_digest(*ranks, digest);
  it->compute.ranks = ranks->count();
  prepare_together(*ranks, [&] { it->trainer->join(*ranks); });
  return it;
}

}  // namespace

int train(const TrainOptions& options) {
  const std::unique_ptr<Ranks> ranks = meet_ranks();
  const std::unique_ptr<PreparedTraining> prepared = prepare(options, ranks.get());
  if (!ranks) return lead(options, nullptr, *prepared);
  try {
    if (prepared->compute.device == Device::cuda) ranks->use_gpus();
    if (ranks->leads()) return lead(options, ranks.get(), *prepared);
    const StopSignals ignored;  // rank 0 stops the training, prints and writes
    prepared->trainer->follow();
    return 0;
  } catch (...) {  // others may wait for this rank's part of a sum: all end at once
    abort_ranks(report_failure());
  }
}

// --- Options ---

namespace {

/// The options of a training. The named ones that stand for settings come after every --set, so that they
/// win.
struct TrainingWords {
  TrainOptions train;
  std::vector<Setting> named;
};

/// Adds the last options, which `train` and `finetune` share.
void add_training(CLI::App& to, TrainingWords& words) {
  add_setting(to, "--steps", "train.steps", words.named,
              "end after this many updates of the weights, whatever --epochs says; 0: epochs end it")
      ->check(integer(0));
  add_device(to, words.train);
}

TrainOptions training_options(const TrainingWords& words, const CommandLine& line) {
  TrainOptions train = words.train;
  train.settings.insert(train.settings.end(), words.named.begin(), words.named.end());
  train.command = shell_command(line.words);
  return train;
}

/// Throws InputError for settings that a resumed run cannot change.
void check_resumed(const TrainOptions& train) {
  for (const Setting& setting : train.settings)
    check_input(
        setting.key == "train.epochs" || setting.key == "train.steps",
        "{}: cannot change in a resumed run; only --epochs, --steps, --device, --precision, --threads "
        "and --data may",
        setting.where);
}

}  // namespace

// --- Train ---

Command add_train(CommandLine& line) {
  const auto words = std::make_shared<TrainingWords>();
  TrainOptions& options = words->train;
  CLI::App& app =
      add_command(line, "train", "train a model", "lm train --recipe char-lstm --data book.txt --epochs 5");
  CLI::Option* recipe =
      add_text(app, "--recipe", options.recipe, "NAME|FILE", "a name from `lm recipes`, or a TOML file");
  add_text(app, "--data", options.data, "DIR|FILE", data_text);
  CLI::Option* out =
      add_text(app, "--out", options.out, "RUN", "the run folder to make (default: runs/RECIPE-N)");
  CLI::Option* init_from =
      add_text(app, "--init-from", options.init_from, "RUN",
               "in place of --recipe: the settings, the vocabulary and the best weights of this run")
          ->excludes(recipe);
  add_setting(app, "--epochs", "train.epochs", words->named,
              "times to read the training text (default: the recipe's)");
  add_setting(app, "--seed", "train.seed", words->named,
              "of weights and dropout (default: the recipe's, else 1)");
  add_settings(app, options.settings,
               "any setting of the recipe, can be repeated; `lm info --keys --recipe NAME` lists them");
  add_training(app, *words);
  app.add_flag("--resume", options.resume, "continue the run at --out")
      ->needs(out)
      ->excludes(recipe)
      ->excludes(init_from);
  return {&app, [words, &line] {
            const TrainOptions train = training_options(*words, line);
            check_input(train.resume || !train.recipe.empty() || !train.init_from.empty(),
                        "train: no recipe given; `{} recipes` lists them, as in --recipe char-lstm; to "
                        "continue a run, --out RUN --resume",
                        this_program());
            if (train.resume) check_resumed(train);
            return rondo::train(train);
          }};
}

// --- Finetuning ---

Command add_finetune(CommandLine& line) {
  const auto words = std::make_shared<TrainingWords>();
  TrainOptions& options = words->train;
  CLI::App& app = add_command(
      line, "finetune", "train the best model of a finished run further on its own text, by averaged SGD",
      "lm finetune runs/awd-lstm-ptb-1 --epochs 50",
      "Averaged SGD at a constant rate, until validation no longer falls (Merity et al. 2018). The result is "
      "a run of its own, never worse on valid.");
  add_run(app, "run", options.base, "the folder of the finished run");
  add_text(app, "--out", options.out, "RUN", "the run folder to make (default: runs/RECIPE-finetuned-N)");
  add_setting(app, "--epochs", "finetune.epochs", words->named,
              "times to read the training text, at most (default: the recipe's finetune.epochs)");
  add_text(app, "--data", options.data, "DIR|FILE", "where the run's text lies now, if it has moved");
  add_settings(app, options.settings, "a setting, can be repeated, as in --set finetune.learning_rate=10");
  add_training(app, *words);
  return {&app, [words, &line] { return train(training_options(*words, line)); }};
}

}  // namespace rondo
