// Two things that tests of data/ share: the folders of published corpora, and the check of a refusal's text.
#pragma once

#include <cstdlib>
#include <string_view>

#include "tests/temporary_folder.h"

namespace rondo {

/// The folder of a published corpus, which need not be there. Corpora are not part of the project: set
/// RONDO_DATA to the folder that holds them; without it ../shared/data beside the sources is tried.
inline std::filesystem::path corpus_folder(std::string_view name) {
  const char* given = std::getenv("RONDO_DATA");
  const std::filesystem::path sources = RONDO_SOURCE_DIR;
  return (given ? std::filesystem::path(given) : sources / "../shared/data") / name;
}
inline bool has_corpus(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "train.txt");
}

/// Expects an InputError of one line whose text contains every one of `parts`.
template <class Action, class... Parts>
void expect_input_error(Action action, const Parts&... parts) {
  const std::string text = any_error_of<InputError>(action);
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  (expect_contains(text, parts), ...);
}

}  // namespace rondo
