// The catalogue of cells: the name of each, its settings, and the properties that a stack needs to know.
// Rondo's cells are the list in catalogue.cpp; a program adds its own with add_cell().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nn/cells/cell.h"

namespace rondo {

/// Makes a cell by its recipe name; the suffix is appended to the parameters' names. Throws InputError for an
/// unknown name.
std::unique_ptr<Cell> make_cell(const std::string& name, Module& parent, const std::string& suffix,
                                const CellOptions& options);
/// All names that make_cell knows: Rondo's cells, then those added by add_cell().
std::vector<std::string> cell_names();

/// Properties of a cell that do not depend on its sizes.
struct CellTraits {
  bool cell_state = false;         // it has a c: zoneout of c is possible
  bool recurrent_weights = false;  // weight drop is possible
  bool reads_h = false;            // recurrent dropout is possible
  bool looks_across_rows = false;  // it computes statistics of a batch
  bool carries_h = false;          // a decoder can begin with a given h
};
/// Throws InputError on an unknown name.
CellTraits traits_of(const std::string& cell);

/// One line: what the cell is, and its paper.
std::string description_of(const std::string& cell);
/// The keys of one cell's settings.
Keys keys_of(CellSettings& settings, const std::string& cell);
/// The keys of all cells' settings, each once; the descriptions name the cells that have them.
Keys keys_of(CellSettings& settings);
/// Throws InputError for a setting that the cell does not have, naming the cells that have it, or a value
/// that the cell refuses; keys begin with `section`, as in "model.".
void check_settings(const std::string& cell, const CellSettings& settings, const std::string& section);

/// An entry of the catalogue.
struct CatalogueEntry {
  std::string name, description;
  std::function<std::unique_ptr<Cell>(Module& parent, const std::string& suffix, const CellOptions& options)>
      make;
  std::vector<SettingsKind> settings;
};
template <class Made>
CatalogueEntry make_entry(std::string name, std::string description) {
  return {std::move(name), std::move(description),
          [](Module& parent, const std::string& suffix, const CellOptions& options) {
            return std::make_unique<Made>(parent, suffix, options);
          },
          kinds_of<Made>()};
}
/// Adds a cell of another program, so that make_cell and recipes know it. Throws Error if its name, or the
/// key of a setting, is taken.
void add_cell(CatalogueEntry entry);
template <class Made>
void add_cell(const std::string& name, const std::string& description = "") {
  add_cell(make_entry<Made>(name, description));
}

}  // namespace rondo
