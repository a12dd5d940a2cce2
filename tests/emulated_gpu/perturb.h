// How the emulated GPU's numbers differ from the host's, as a real GPU's do.
#pragma once

#include <cstdint>

namespace rondo::emulated_gpu {

/// The seed of "perturb=SEED"; 0: nothing is perturbed.
uint64_t perturbation();
/// Random bits of a number and the seed.
uint64_t scattered(uint64_t number);

}  // namespace rondo::emulated_gpu
