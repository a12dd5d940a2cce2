// Looking at recurrent layers.
#include "nn/recurrent/step_observer.h"

#include <utility>

namespace rondo {
namespace {

thread_local StepObserver* steps_observer_in_force = nullptr;

}  // namespace

ObservedSteps::ObservedSteps(StepObserver& observer)
    : before_(std::exchange(steps_observer_in_force, &observer)) {}
ObservedSteps::~ObservedSteps() { steps_observer_in_force = before_; }
StepObserver* step_observer() { return steps_observer_in_force; }

}  // namespace rondo
