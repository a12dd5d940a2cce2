// The version of Rondo: of the library and of the program.
#pragma once

#include <string>

namespace rondo {

/// The version and, where it was built from a checkout, the commit: "0.2.0+dfc39edc8a21",
/// "0.2.0+dfc39edc8a21-dirty". Runs and measurements record it.
std::string version();
/// The program in the signatures of metrics: "rondo-VERSION".
inline std::string signature_version() { return "rondo-" + version(); }

}  // namespace rondo
