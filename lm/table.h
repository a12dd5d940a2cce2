// `lm table`: what papers report beside what runs measured. All of it comes from the folders of the runs:
// config.toml, vocab.txt, log.jsonl. Deliberately measures nothing anew: that is evaluate.h.
#pragma once

#include <string>
#include <vector>

namespace rondo {

struct TableOptions {
  std::vector<std::string> runs;
  bool json = false, markdown = false;  // at most one; neither: a text table
};

/// Prints a row for each run on stdout, in the order given. Returns 0. InputErrors, before anything is
/// printed: a folder that is no run; a file of a run that is broken, naming the file, and the line of the
/// log.
int table(const TableOptions& options);

}  // namespace rondo
