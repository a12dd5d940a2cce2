// The training of an encoder-decoder, of the recipe attention-multi30k, on pairs of random symbols as long as
// sentences of Multi30k. Beam search is compared by bench/peer_translation.py. Next: lm/tasks/translation.h.
#pragma once

#include "bench/peer.h"
#include "tensor/backend.h"

namespace rondo {

/// What bench/peers.py needs to know about it: the model, and the lengths of each batch.
Peer::Json translation_shape();

/// Trains it on request (bench/worker.h); it counts target symbols.
void translation_on_request(Device device);

}  // namespace rondo
