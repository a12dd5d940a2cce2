// The steps of recurrent cells as stages, for the persistent kernel, which computes all steps of a layer in
// one launch (nn/recurrent/persistent_layer.h). A stage is one product with a recurrent weight and what
// follows unit by unit:
//
//   z_g = join(x_g, U_g e, vectors_g) for each gate g       y, second = gates(z_1, z_2, .., also..)
//
// The first stage reads e = h, as recurrent dropout leaves it; each later one reads the y of the one before;
// the y of the last is h'. To give the kernel another cell: write its stages here, add them to
// PersistentCells, and override Cell::recurrence().
#pragma once

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/cells.h"
#include "autograd/operators/functions.h"
#include "autograd/operators/gru_gates.h"
#include "autograd/operators/lstm_gates.h"

namespace rondo {

/// What gates read besides pre-activations: h as recurrent weights read it, h itself, the cell state, or what
/// an earlier stage of the step has kept.
enum class Also { seen_h, h, c, kept };
/// What the second result of the gates is.
enum class Second { none, c, kept };

template <class Join, int gate_count, class Gates, Second second, Also... also>
struct Stage {};

template <class... Stages>
struct StageList {};
/// A list of cells, each by its stages.
template <class... Cells>
struct CellList {};

// Gates whose arguments are in another order than that of a stage, or which pass on a value.

struct GruResetStage {
  HD auto operator()(auto r, auto z, auto h) const { return outputs(GruReset{}(r, h), z); }
};
struct GruUpdateStage {
  HD auto operator()(auto n, auto z, auto h) const { return GruUpdate{}(z, n, h); }
};
struct Unchanged {
  HD auto operator()(auto z) const { return z; }
};

// Equations: nn/cells/rnn.h, lstm.h, gru.h, multiplicative.h.

template <class Join>
using RnnStages = StageList<Stage<Join, 1, Tanh, Second::none>>;
template <class Join>
using LstmStages = StageList<Stage<Join, 4, LstmGates, Second::c, Also::c>>;
template <class Join>
using GruStages = StageList<Stage<Join, 2, GruResetStage, Second::kept, Also::seen_h>,
                            Stage<Join, 1, GruUpdateStage, Second::none, Also::kept, Also::h>>;
using IntermediateStages = StageList<Stage<Multiply, 1, Unchanged, Second::none>>;

/// All that have a kernel.
using PersistentCells =
    CellList<RnnStages<Add>, LstmStages<Add>, GruStages<Add>, RnnStages<MultiplicativeIntegration>,
             LstmStages<MultiplicativeIntegration>, GruStages<MultiplicativeIntegration>,
             JoinedLists<IntermediateStages, RnnStages<Add>>,
             JoinedLists<IntermediateStages, LstmStages<Add>>>;

}  // namespace rondo
