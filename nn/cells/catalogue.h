// The catalogue of cells: a name for each, what it may be set to, what a stack needs to know of it. Rondo's
// cells are the list in catalogue.cpp; a program adds its own by add_cell().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nn/cells/cell.h"

namespace rondo {

/// Makes a cell by its recipe name; the parameters' names get the suffix. Throws InputError on an unknown
/// name.
std::unique_ptr<Cell> make_cell(const std::string& name, Module& parent, const std::string& suffix,
                                const CellOptions& options);
/// All names that make_cell knows: Rondo's cells, then those added.
std::vector<std::string> cell_names();

/// What a cell says of itself, whatever its sizes.
struct CellTraits {
  bool cell_state = false;         // a c: zoneout of c
  bool recurrent_weights = false;  // weight drop
  bool reads_h = false;            // recurrent dropout
  bool looks_across_rows = false;  // it takes statistics of a batch
};
/// Throws InputError on an unknown name.
CellTraits traits_of(const std::string& cell);

/// One line: what it is, and whose.
std::string description_of(const std::string& cell);
/// The keys of one cell's settings.
Keys keys_of(CellSettings& settings, const std::string& cell);
/// The keys of all cells' settings, each once; what they mean names the cells that have them.
Keys keys_of(CellSettings& settings);
/// InputError if `settings` sets what the cell does not have, naming the cells that do, or what the cell
/// refuses; keys begin with `section`, as in "model.".
void check_settings(const std::string& cell, const CellSettings& settings, const std::string& section);

using CellMaker = std::function<std::unique_ptr<Cell>(Module& parent, const std::string& suffix,
                                                      const CellOptions& options)>;
/// Makes another program's cell known to make_cell and to recipes. Throws Error if its name, or the key of a
/// setting, is taken.
void add_cell(const std::string& name, CellMaker maker, std::vector<SettingsKind> settings,
              const std::string& description = "");
template <class Made>
void add_cell(const std::string& name, const std::string& description = "") {
  add_cell(
      name,
      [](Module& parent, const std::string& suffix, const CellOptions& options) {
        return std::make_unique<Made>(parent, suffix, options);
      },
      kinds_of<Made>(), description);
}

}  // namespace rondo
