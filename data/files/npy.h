// NumPy's file format for arrays (.npy, version 1.0), for rows of numbers: numpy.load() reads them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace rondo {

/// Replaces a file by an array [rows, columns] of 32-bit floats. Error if it cannot be written.
void write_npy(const std::filesystem::path& path, std::span<const float> numbers, std::int64_t columns);

}  // namespace rondo
