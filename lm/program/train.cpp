// `lm train` and `lm finetune`. The loop is run_training(). Before it: lm/program/train_setup.h; after it:
// the final figures, which the job measures (lm/program/job.h). Terminal and log: lm/program/terminal.h,
// lm/program/training_log.h.
#include "lm/program/train.h"

#include "data/input_file.h"
#include "lm/program/job.h"
#include "lm/training/checkpoint.h"

namespace rondo {
namespace {

void tell_metrics(Job& job, Watch& watch) { watch.observers.updated(job.trainer(), job.trainer().metrics()); }

Figure evaluate_valid(Job& job, Watch& watch) {
  return job.task().evaluate(watch.progress_of("evaluating valid", job.validation_size()));
}

/// Evaluates the weights, or their average once averaging has started, and saves them if they are the best so
/// far. If a signal ends it, the training is unchanged.
void evaluate_and_keep(Job& job, Watch& watch, const RunFolder& run) {
  Trainer& trainer = job.trainer();
  const bool averaged = trainer.averages();
  const auto evaluated = trainer.evaluated_weights();
  const Figure figure = evaluate_valid(job, watch);
  const bool best = trainer.validated(figure);
  if (best) save_model(run.model(), job.model());
  watch.observers.validated(trainer, figure, best);
  if (trainer.averages() && !averaged)
    watch.terminal.line(
        "validation no longer falls: from now on the average of the weights is evaluated and kept");
}

/// Evaluates the trained model that a finetuning begins with: the result must be better.
void evaluate_base(Job& job, Watch& watch) {
  const Figure figure = evaluate_valid(job, watch);
  job.trainer().set_figure_to_beat(figure);
  watch.observers.began_with(figure);
}

/// The training loop. After a signal it saves and throws Stopped.
void run_training(Job& job, Watch& watch, const RunOptions& options, const RunFolder& run) {
  Trainer& trainer = job.trainer();
  auto saved = Clock::now();
  const auto save = [&] {
    tell_metrics(job, watch);
    trainer.save(run.state(), watch.log.sync());
    saved = Clock::now();
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
  // Checked before each step, so that an evaluation ended by a signal is made first when the run is resumed.
  const auto evaluation_is_due = [&] {
    const int64_t every = options.eval_every, step = trainer.step_count();
    return every > 0 && step > 0 && step % every == 0 && !trainer.is_validated();
  };
  const auto save_is_due = [&] {
    return options.save_every > 0 && seconds_since(saved) > 60 * options.save_every;
  };
  try {
    if (trainer.step_count() == 0) probe(0);
    for (; !trainer.done(); watch.signals.throw_if_received()) {
      if (evaluation_is_due()) {
        evaluate();
        save();
      } else if (trainer.next_batch()) {
        trainer.step();
        if (watch.observers.is_due(trainer)) tell_metrics(job, watch);
        if (save_is_due() && !evaluation_is_due()) save();
      } else {
        if (!trainer.is_validated()) evaluate();
        probe(trainer.epoch());
        trainer.begin_next_epoch();
        save();
      }
    }
  } catch (const Stopped&) {
    save();
    throw;
  }
}

/// The error text of a divergence, with advice for the user.
Error remedy_of(const Diverged& error, const RunFolder& run, bool finetunes) {
  return Error(fmt::format(
      "{}. Training stops{}; try a lower {}.learning_rate or stronger clipping (train.clip) in a new run "
      "(another --out): --resume changes no settings",
      error.what(), file_is_there(run.model()) ? " and the best model stays" : "",
      finetunes ? "finetune" : "train"));
}

}  // namespace

int train(const TrainOptions& options) {
  Setup setup(options);
  const Recipe& recipe = setup.config.recipe;
  const Provenance before = setup.config.made_by;
  const Compute compute = compute_of(options, setup);
  const Device device = compute.device;
  const std::unique_ptr<Job> job = make_job(options, setup);
  check_known_vocabulary(setup, job->vocabularies());
  check_known_files(setup, job->layout());
  job->check_memory(device);
  job->begin(device);
  Trainer& trainer = job->trainer();
  const int64_t log_position = load_begin(*job, setup);
  check_input(trainer.epoch() <= recipe.trainer.epochs + 1,
              "--epochs {}: this run has trained {} epochs already; give that many or more",
              recipe.trainer.epochs, trainer.epoch() - 1);
  write_setup(options, setup, compute, *job);
  const RunFolder& run = setup.run;
  const bool begins_trained = setup.finetunes() && trainer.step_count() == 0 && !trainer.is_validated();
  if (begins_trained) save_model(run.model(), job->model());
  Terminal terminal(recipe);
  TrainingLog log(recipe, run, log_position, device);
  const int64_t log_begin = log.sync();
  trainer.save(run.state(), log_begin);  // before anything is logged: a killed run can be resumed
  if (log_begin < log_position)
    terminal.line(
        fmt::format("{}: lacks lines that were there when the state was saved; it continues without them",
                    run.log().string()));
  say_beginning(setup, before, compute, *job, terminal);
  try {
    const StopSignals signals;
    Watch watch{terminal, log, signals};
    try {
      if (begins_trained) evaluate_base(*job, watch);
      run_training(*job, watch, recipe.run, run);
      if (const std::string why = trainer.ended_by(); !why.empty())
        terminal.line(fmt::format("{}: the training ends", why));
      job->measure_best(watch, setup, compute);
      signals.throw_if_received();
    } catch (const Stopped& stopped) {
      const std::string where =
          trainer.done() ? "before all was evaluated" : fmt::format("at step {}", trainer.step_count());
      terminal.line(fmt::format("stopped {}; to resume: {}", where, resume_command(run)));
      return stopped.exit_status;
    }
  } catch (const Diverged& error) {
    throw remedy_of(error, run, setup.finetunes());
  } catch (const InputError&) {
    throw;  // not a GPU error
  } catch (const Error& error) {
    if (device == Device::cpu) throw;
    throw Error(fmt::format("{}. To resume from the last saved state: {}, here or with --device cpu",
                            error.what(), resume_command(run)));
  }
  job->conclude(terminal, run);
  return 0;
}

}  // namespace rondo
