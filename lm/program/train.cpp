// `lm train` and `lm finetune`. The loop is run_training(). Before it: lm/program/train_setup.h; after it:
// the final figures, which the job measures (lm/program/job.h). Terminal, log and page:
// lm/program/terminal.h, lm/program/training_log.h, lm/program/plot_page.h.
#include "lm/program/train.h"

#include <algorithm>

#include "cuda/all_reduce.h"
#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/cli.h"
#include "lm/program/job.h"
#include "lm/program/mpi_ranks.h"
#include "lm/program/recipes.h"
#include "lm/program/settings.h"
#include "lm/program/shell_command.h"
#include "lm/training/checkpoint.h"

namespace rondo {
namespace {

void tell_metrics(Job& job, Watch& watch) { watch.observers.updated(job.trainer(), job.trainer().metrics()); }

Figure evaluate_valid(Job& job, Watch& watch) {
  return job.task().evaluate(watch.progress_of("evaluating valid", job.validation_size()));
}

/// Tells an evaluation on the validation text, and what is wrong if the figure is worse than knowing nothing.
void tell_validation(Job& job, Watch& watch, const RunFolder& run, const Figure& figure, bool best) {
  watch.observers.validated(job.trainer(), figure, best);
  if (const std::string warning = job.warning_of(figure, run); !warning.empty())
    warn(watch.terminal, warning);
}

/// Evaluates the weights, or their average once averaging has started, and saves them if they are the best so
/// far. If a signal ends it, the training is unchanged.
void evaluate_and_keep(Job& job, Watch& watch, const RunFolder& run) {
  Trainer& trainer = job.trainer();
  const bool averaged = trainer.averages();
  const auto evaluated = trainer.evaluated_weights();
  const Figure figure = evaluate_valid(job, watch);
  const bool best = trainer.validated(figure);
  if (best) job.keep_best(run);
  tell_validation(job, watch, run, figure, best);
  if (trainer.averages() && !averaged)
    watch.terminal.line(
        "validation no longer falls: from now on the average of the weights is evaluated and kept");
}

/// A training that ends before its first evaluation leaves a model to use, too: the weights as they are.
/// Returns whether it is that model.
bool keep_unevaluated(Job& job, const RunFolder& run) {
  Trainer& trainer = job.trainer();
  if (trainer.has_best() || trainer.step_count() == 0) return false;
  const auto evaluated = trainer.evaluated_weights();
  save_model(run.model(), job.model());
  return true;
}

/// At the end of its time, after the state is saved: evaluates the weights as they are and keeps them if they
/// are the best. A resumed run makes the same updates as if it had not been stopped; its evaluations then
/// compare with the best of the saved state, not with this one.
void keep_at_the_limit(Job& job, Watch& watch, const RunFolder& run) {
  Trainer& trainer = job.trainer();
  if (trainer.is_validated() || trainer.step_count() == 0) return;
  const auto evaluated = trainer.evaluated_weights();
  const Figure figure = evaluate_valid(job, watch);
  const bool best = trainer.would_be_best(figure);
  if (best) job.keep_best(run);
  tell_validation(job, watch, run, figure, best);
}

/// Evaluates the trained model that a training begins with: the result must be better.
void evaluate_base(Job& job, Watch& watch) {
  const Figure figure = evaluate_valid(job, watch);
  job.trainer().set_figure_to_beat(figure);
  watch.observers.began_with(figure);
}

/// The training loop. After a signal it saves and throws Stopped. Returns whether the training is at its end,
/// not only its `max_minutes`.
bool run_training(Job& job, Watch& watch, const RunOptions& options, const RunFolder& run,
                  const std::optional<double>& max_minutes) {
  Trainer& trainer = job.trainer();
  const auto begin = Clock::now();
  auto saved = begin;
  const auto save = [&] {
    tell_metrics(job, watch);
    trainer.save(run.state(), watch.log.sync());
    saved = Clock::now();
    watch.page.update();
  };
  const auto evaluate = [&] {
    tell_metrics(job, watch);
    evaluate_and_keep(job, watch, run);
  };
  const auto probe = [&](int64_t epochs) {
    if (options.probe_every == 0 || epochs % options.probe_every != 0) return;
    const auto evaluated = trainer.evaluated_weights();
    watch.log.probed(trainer, epochs, job.probe(watch.progress_of("probing", ProbeOptions().sequences)));
  };
  const auto measure_meanwhile = [&] {
    const int64_t every = job.measures_every();
    if (every == 0 || trainer.step_count() % every != 0) return;
    const auto evaluated = trainer.evaluated_weights();
    for (const auto& figure : job.measure_meanwhile()) watch.log.measured_meanwhile(trainer, figure);
  };
  // Checked before each step, so that an evaluation ended by a signal is made first when the run is resumed.
  const auto evaluation_is_due = [&] {
    const int64_t every = options.eval_every, step = trainer.step_count();
    return every > 0 && step > 0 && step % every == 0 && !trainer.is_validated();
  };
  const auto save_is_due = [&] {
    return options.save_every > 0 && seconds_since(saved) > 60 * options.save_every;
  };
  const int64_t first_step = trainer.step_count();
  const auto time_is_up = [&] {  // after one step at least
    return max_minutes && trainer.step_count() > first_step && seconds_since(begin) >= 60 * *max_minutes;
  };
  if (max_minutes) watch.terminal.ends_after(60 * *max_minutes);
  try {
    if (trainer.step_count() == 0) probe(0);
    for (; !trainer.done() && !time_is_up(); watch.signals.throw_if_received()) {
      if (evaluation_is_due()) {
        evaluate();
        save();
      } else if (trainer.next_batch()) {
        trainer.step();
        measure_meanwhile();
        if (watch.observers.is_due(trainer)) tell_metrics(job, watch);
        if (save_is_due() && !evaluation_is_due()) save();
      } else {
        if (!trainer.is_validated()) evaluate();
        probe(trainer.epoch());
        trainer.begin_next_epoch();
        save();
      }
    }
    if (trainer.done()) {
      if (!trainer.is_validated()) {  // train.steps end within an epoch
        evaluate();
        save();
      }
      return true;
    }
    save();
    keep_at_the_limit(job, watch, run);
    return false;
  } catch (const Stopped&) {
    save();
    throw;
  }
}

/// All that a training needs before it writes a file.
struct Beginning {
  Setup setup;
  Provenance before = setup.config.made_by;
  Compute compute;
  std::unique_ptr<Job> job;
  int64_t log_position = 0;

  Beginning(const TrainOptions& options, bool leads)
      : setup(options, leads), compute(compute_of(options, setup)), job(make_job(options, setup)) {
    const Recipe& recipe = setup.config.recipe;
    check_known_vocabulary(setup, job->vocabularies());
    check_known_files(setup, job->layout());
    job->check_memory(compute.device);
    job->begin(compute.device);
    const Trainer& trainer = job->trainer();
    log_position = load_begin(*job, setup);
    check_input(recipe.trainer.steps > 0 || trainer.epoch() <= recipe.trainer.epochs + 1,
                "--epochs {}: this run has trained {} epochs already; give that many or more",
                recipe.trainer.epochs, trainer.epoch() - 1);
    check_input(recipe.trainer.steps == 0 || trainer.step_count() <= recipe.trainer.steps,
                "--steps {}: this run has trained {} steps already; give that many or more",
                recipe.trainer.steps, trainer.step_count());
  }
};

/// Of all that ranks must have in common.
std::string shared_digest(const Beginning& it) {
  Recipe recipe = it.setup.config.recipe;
  std::string all = write_toml(keys_of(recipe)) + digest_of(it.job->vocabularies());
  for (const std::string& digest : digests_of(it.job->sha256_lines())) all += digest;
  const std::vector<real> weights = it.job->model().values().to_vector();
  all += sha256_hex({reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(real)});
  all += fmt::format(" {} {} {}", it.job->trainer().step_count(), name_of(it.compute.device),
                     name_of(it.compute.precision));
  return sha256_hex(all);
}

/// On all ranks, or on none.
std::unique_ptr<Beginning> begin(const TrainOptions& options, Ranks* ranks) {
  std::unique_ptr<Beginning> it;
  if (!ranks) return std::make_unique<Beginning>(options, true);
  std::string digest;
  prepare_together(*ranks, [&] {
    it = std::make_unique<Beginning>(options, ranks->leads());
    const std::string why_not = it->compute.device == Device::cuda ? cuda::why_no_all_reduce() : "";
    check_input(why_not.empty(), "several ranks on GPUs: {}; or use --device cpu", why_not);
    digest = shared_digest(*it);
  });
  check_same_digest(*ranks, digest);
  it->compute.ranks = ranks->count();
  prepare_together(*ranks, [&] { it->job->trainer().join(*ranks); });
  return it;
}

/// What ranks other than 0 do; they print nothing and write no file.
int follow(Beginning& beginning) {
  const StopSignals ignored;  // rank 0 stops the training
  beginning.job->trainer().follow();
  return 0;
}

/// What a command that resumes a training needs besides, as it is no setting of the run.
std::vector<std::string> words_to_resume(const TrainOptions& options) {
  std::vector<std::string> words;
  if (options.max_minutes)
    words.insert(words.end(), {"--max-minutes", fmt::format("{}", *options.max_minutes)});
  if (options.quiet) words.emplace_back("--quiet");
  return words;
}

/// The error text of a divergence, with advice for the user.
Error remedy_of(const Diverged& error, const RunFolder& run, bool finetunes) {
  return Error(fmt::format("{}. Training stops{}; {}", error.what(),
                           file_is_there(run.model()) ? " and the best model stays" : "",
                           advice_after_divergence(finetunes ? "finetune" : "train")));
}

/// A warning if the settings choose another optimizer than the recipe's, and leave its learning rate.
std::string warning_of_rate(const TrainOptions& options, const Recipe& recipe) {
  const bool sets_rate = std::any_of(options.settings.begin(), options.settings.end(),
                                     [](const Setting& it) { return it.key == "train.learning_rate"; });
  if (options.resume || options.recipe.empty() || sets_rate) return "";
  const OptimizerOptions before = load_recipe(options.recipe).trainer.optimizer,
                         now = recipe.trainer.optimizer;
  if (before.kind == now.kind || now.learning_rate.value_or(0) == 0) return "";
  return fmt::format(
      "{} has the learning rate of the recipe, {}, which is for {}: set train.learning_rate, as to 0 for its "
      "own, {}",
      name_of(now.kind), *now.learning_rate, name_of(before.kind), traits_of(now.kind).learning_rate);
}

/// The training, with all that is printed and written of it.
int lead(const TrainOptions& options, const Ranks* ranks, Beginning& beginning) {
  auto& [setup, before, compute, job, log_position] = beginning;
  const Recipe& recipe = setup.config.recipe;
  const Device device = compute.device;
  Trainer& trainer = job->trainer();
  write_setup(options, setup, compute, *job);
  const RunFolder& run = setup.run;
  const auto command_to_resume = [&](const std::vector<std::string>& words) {
    return (ranks ? fmt::format("mpirun -n {} ", ranks->count()) : "") + resume_command(run.path, words);
  };
  const std::string to_resume = command_to_resume(words_to_resume(options));
  const int64_t first_step = trainer.step_count();
  const bool begins_trained = setup.has_base() && trainer.step_count() == 0 && !trainer.is_validated();
  if (begins_trained) save_model(run.model(), job->model());
  Terminal terminal(recipe, options.quiet);
  const double share = trainer.task().share_of_epoch();
  const bool is_within = recipe.run.eval_every == 0 && share > 0 && share < 1;  // what an evaluation sums up
  if (!trainer.is_validated() || is_within) terminal.resumed_at(trainer.step_count());
  TrainingLog log(recipe, run, log_position, trainer.step_count(), device);
  const int64_t log_begin = log.sync();
  trainer.save(run.state(), log_begin);  // before anything is logged: a killed run can be resumed
  if (log_begin < log_position)
    terminal.line(
        fmt::format("{}: lacks lines that were there when the state was saved; it continues without them",
                    run.log().string()));
  say_beginning(setup, before, compute, *job, terminal);
  if (const std::string warning = warning_of_rate(options, recipe); !warning.empty()) warn(terminal, warning);
  TrainingPage page(run);
  page.update();
  bool is_at_end = true;  // not only that of its time
  try {
    const StopSignals signals;
    Watch watch{terminal, log, signals, page};
    try {
      if (begins_trained) evaluate_base(*job, watch);
      is_at_end = run_training(*job, watch, recipe.run, run, options.max_minutes);
      if (const std::string why = trainer.ended_by(); !why.empty())
        terminal.line(fmt::format("{}: the training ends", why));
      if (file_is_there(run.model())) job->measure_best(watch, setup, compute);
      signals.throw_if_received();
      if (!is_at_end) log.stopped(trainer, false);
    } catch (const Stopped& stopped) {
      const std::string where =
          trainer.done() ? "before all was evaluated" : fmt::format("at step {}", trainer.step_count());
      const bool unevaluated = keep_unevaluated(*job, run);
      log.stopped(trainer, unevaluated);
      log.sync();
      if (unevaluated)
        terminal.line(fmt::format("{} has the weights of step {}, which are not evaluated",
                                  run.model().string(), trainer.step_count()));
      const std::string stop = fmt::format("stopped {}; to resume: {}", where, to_resume);
      options.quiet ? fmt::print(stderr, "lm: {}\n", stop) : terminal.line(stop);
      return stopped.exit_status;
    }
  } catch (const Diverged& error) {
    throw remedy_of(error, run, setup.finetunes());
  } catch (const InputError&) {
    throw;  // not a GPU error
  } catch (const Error& error) {
    if (device == Device::cpu) throw;
    throw Error(fmt::format("{}. To resume from the last saved state: {}, here or with --device cpu",
                            error.what(), to_resume));
  }
  log.sync();
  if (options.quiet) {
    fmt::print("{}\n", run.path.string());
    return 0;
  }
  const RunFolder base = setup.base();
  if (setup.has_base() && file_is_there(base.model()) && file_is_there(run.model()) &&
      sha256_hex(InputFile(base.model())) == sha256_hex(InputFile(run.model())))
    terminal.line(fmt::format("no evaluation was better than that of {}: the run has its weights, unchanged",
                              base.path.string()));
  if (file_is_there(run.model())) job->conclude(terminal, run);
  if (!is_at_end)
    terminal.line(fmt::format("ended by --max-minutes {}, at step {}, in epoch {}; to go on: {}",
                              *options.max_minutes, trainer.step_count(), trainer.epoch(), to_resume));
  else if (trainer.steps() > 0 && trainer.step_count() == trainer.steps() && first_step < trainer.steps())
    terminal.line(fmt::format("ended after {} (train.steps), in epoch {}; to go on: {}",
                              counted_text(trainer.steps(), "steps"), trainer.epoch(),
                              command_to_resume({"--steps", fmt::format("{}", 2 * trainer.steps())})));
  return 0;
}

}  // namespace

int train(const TrainOptions& options) {
  const std::unique_ptr<Ranks> ranks = meet_ranks();
  const std::unique_ptr<Beginning> beginning = begin(options, ranks.get());
  if (!ranks) return lead(options, nullptr, *beginning);
  try {
    if (beginning->compute.device == Device::cuda) ranks->use_gpus();
    return ranks->leads() ? lead(options, ranks.get(), *beginning) : follow(*beginning);
  } catch (...) {  // others may wait for this rank's part of a sum: all end at once
    const Failure failure = current_failure();
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", failure.line);
    abort_ranks(failure.exit_status);
  }
}

}  // namespace rondo
