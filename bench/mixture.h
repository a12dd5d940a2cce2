// The output layer of a mixture of softmaxes alone, with its loss and gradients, on the shape of AWD-LSTM-MoS
// on the Penn Treebank (Yang et al. 2018). Next: autograd/cross_entropy.h.
#pragma once

#include "bench/peer.h"

namespace rondo {

/// What bench/peers.py needs to know about it.
Peer::Json mixture_shape();

/// Runs it on request (bench/worker.h).
void mixture_on_request();

}  // namespace rondo
