// What tasks on whole sentences share: the objective, which reads them in batches, and evaluations and probes
// of what it reads. Next: lm/tasks/classification.h.
#pragma once

#include "autograd/operators/arithmetic.h"
#include "lm/evaluation/evaluation.h"
#include "lm/tasks/task.h"
#include "lm/training/objective.h"
#include "nn/cells/catalogue.h"

namespace rondo {

// --- Sentence objective ---
// What objectives that read whole sentences in batches share: the place in the data, and the division of a
// batch among ranks. No state is carried from batch to batch.

/// `Batches` is PairBatches, LabelledBatches or the like. Functions of a task say what is computed:
/// indices_of(batch) what the device needs of a batch, nats_of(model, batch, indices) its losses, and
/// evaluate_on(model, valid, progress) the scores.
template <class Model, class Batches, class Valid = typename Batches::Items>
class SentenceObjective : public Objective {
 public:
  using Staged = typename Batches::Staged;

  /// The model and both texts must outlive it. The seed determines the order of the batches. InputErrors of
  /// the batches.
  SentenceObjective(Model& model, const typename Batches::Settings& options,
                    const typename Batches::Items& train, const Valid& valid, uint64_t seed = 1)
      : model_(model), batches_(options, train, seed), valid_(valid) {}

  Module& model() override { return model_; }
  void begin_epoch(int64_t epoch) override { batches_.seek(epoch, 0); }
  bool next_batch(Batch& batch) final {
    if (!batches_.next(staged_)) return false;
    batch.parts = staged_.share.count > 0 ? parts() : 0;
    batch.indices = batch.parts > 0 ? indices_of(staged_) : std::vector<std::vector<int32_t>>();
    batch.scored = scored() * parts();
    if (batch.parts > 0 && is_gpu(model_.device())) make_rectangles(batch);
    is_rectangle_ = !batch.kind.empty();
    return true;
  }
  /// The largest batch, and the smallest: products of few rows keep packed weights (tensor/products/gemm.h).
  bool stage_extreme(Batch& batch, size_t number) final {
    if (number > 1) return false;
    batches_.seek(1, 0);
    batches_.seek_extreme(number == 0 ? Extreme::largest : Extreme::smallest);
    return next_batch(batch);
  }
  std::string remedy_for_memory() const override {
    return fmt::format("make train.batch, model.hidden or {} smaller; the largest batch has {} rows",
                       limit_of_lengths(), staged_.share.whole);
  }
  /// The batch of the last next_batch().
  const Staged& staged() const { return staged_; }
  /// The mean over averaged() is minimised.
  Loss loss(int64_t /*part*/, const std::vector<Tokens>& indices, RandomContext random) override {
    begin_update(random);
    const CrossEntropy nats = nats_of_staged(indices);
    return {mean(nats.total, indices), {nats.each}};
  }
  int64_t scored_per_epoch() const override { return batches_.scored() * parts(); }
  /// `progress` gets the number of items done.
  Scores evaluate(const ReportDone& progress = {}) override { return evaluate_on(model_, valid_, progress); }
  void divide(int64_t ranks, int64_t own) override { batches_.divide(ranks, own); }
  double epoch_fraction() const override {
    return static_cast<double>(batches_.position()) / static_cast<double>(batches_.length());
  }
  void save(StateWriter& to, const std::string& prefix = "") const override {
    to.add(prefix + "position", batches_.position());
  }
  void load(const StateReader& from, const std::string& prefix = "") override {
    int64_t position = 0;
    from.read(prefix + "position", position, 0, batches_.length());
    batches_.seek(batches_.epoch(), position);
  }

 protected:
  /// What a user can make smaller so that batches have fewer steps.
  virtual std::string limit_of_lengths() const { return "the longest sentences"; }
  /// On a GPU: passes all sides of staged_ to make_rectangles_of(), if their sizes alone decide what is
  /// launched.
  virtual void make_rectangles(Batch& /*batch*/) {}
  /// Makes the launches follow from few numbers, the kind: pads each side to steps_of_kind(), and
  /// stages its lengths behind the indices (Lengths::staged). There the host would set the pace, so rows of
  /// padding cost less than other launches for each batch.
  template <class... Sides>
  void make_rectangles_of(Batch& batch, Sides&... sides) {
    (lengthen(sides, steps_of_kind(sides.steps)), ...);
    batch.indices = indices_of(staged_);
    batch.kind = {staged_.share.count, sides.steps...};
    for (auto&& lists : {staged_lists(sides.lengths, sides.steps)...})
      batch.indices.insert(batch.indices.end(), lists.begin(), lists.end());
    batch.indices.push_back({static_cast<int32_t>(averaged())});
  }
  /// A sum of losses of staged_ divided by averaged().
  Variable mean(const Variable& total, const std::vector<Tokens>& indices) const {
    if (!is_rectangle_) return total / static_cast<real>(averaged());
    return scale_rows(total, reciprocals(*indices.back(), model_.device()));
  }
  virtual CrossEntropy nats_of_staged(const std::vector<Tokens>& indices) {
    return nats_of(model_, staged_, indices);
  }
  /// How many terms each part of the model scores in the whole staged batch: one for each row, unless the
  /// batch has counted them.
  int64_t scored() const {
    if constexpr (requires { staged_.scored; })
      return staged_.scored;
    else
      return staged_.share.whole;
  }
  /// How many parts of the model there are.
  virtual int64_t parts() const { return 1; }
  /// The number of terms, or of rows, over which the mean is minimised.
  virtual int64_t averaged() const { return scored(); }
  /// Begins the computation of staged_, whose rows have the random numbers of the whole batch's.
  void begin_update(RandomContext random) {
    random.slice = {staged_.share.count, staged_.share.first, staged_.share.whole};
    model_.begin_update(random);
  }

  Model& model_;
  Batches batches_;
  const Valid& valid_;
  Staged staged_;

 private:
  bool is_rectangle_ = false;  // staged_
};

// --- Sentence task ---

/// A TextTask whose objective is `Made`. Its `Settings` have the members tokenization, limits, model and
/// train, and it is measured and probed by functions evaluate_on() and probe() of the model and an `Encoded`.
template <class Derived, class Settings, class Model, class Texts, class Encoded, class Made>
class SentenceTask : public TextTask<Derived, Settings, Model, Texts, Encoded> {
 public:
  using Base = TextTask<Derived, Settings, Model, Texts, Encoded>;
  using Base::encoded, Base::own, Base::settings;

  const std::string& cell() const override { return settings.model.cell; }
  const Tokenization& tokenization() const override { return settings.tokenization; }
  std::int64_t largest_vocabulary() const override { return settings.limits.max_size; }
  void check(const std::string& where) const override {
    check_section(where, "data", settings.tokenization);
    check_section(where, "data", settings.limits);
    check_section(where, "", settings.model);
    check_rows_at_once(where, has_batch_norm(), "train.batch", order_of(settings.train).batch);
  }
  std::int64_t validation_size() const override { return encoded("valid").size(); }
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override {
    return std::make_unique<Made>(own(model), settings.train, encoded("train"), encoded("valid"), seed);
  }
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override {
    const Encoded& text = encoded(split);
    Scores scores = evaluate_on(own(model), text, progress_of("evaluating " + split, text.size()));
    scores.warning = left_out_of(split);
    return scores;
  }
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const ReportDone& progress) override {
    using rondo::probe;
    return probe(own(model), encoded(split), options, progress);
  }

 protected:
  /// Whether its model takes statistics over the rows of a batch.
  virtual bool has_batch_norm() const { return traits_of(cell()).looks_across_rows; }
  /// The note about what is left out of a split; empty: nothing.
  virtual std::string left_out_of(const std::string& /*split*/) const { return ""; }
};

}  // namespace rondo
