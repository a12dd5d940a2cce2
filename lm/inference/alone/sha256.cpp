// In place of data/files/sha256.cpp: SHA-256 without libcrypto, by the letters of FIPS 180-4.
#include "data/files/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>

namespace {

using Word = std::uint32_t;

/// Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<Word, 64> K = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::size_t block = 64;  // bytes

}  // namespace

struct evp_md_ctx_st {
  std::array<Word, 8> hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};  // section 5.3.3
  std::string left{};                                                           // less than a block
  std::uint64_t bytes = 0;

  /// Section 6.2.2.
  void add_block(const char* from) {
    std::array<Word, 64> w;
    for (std::size_t t = 0; t < 16; ++t) {
      w[t] = 0;
      for (std::size_t i = 0; i < 4; ++i) w[t] = w[t] << 8 | static_cast<unsigned char>(from[4 * t + i]);
    }
    for (std::size_t t = 16; t < 64; ++t) {
      const Word x = w[t - 15], y = w[t - 2];
      w[t] = (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10) + w[t - 7] +
             (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + w[t - 16];
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (std::size_t t = 0; t < 64; ++t) {
      const Word t1 =
          h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + w[t];
      const Word t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array added = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < hash.size(); ++i) hash[i] += added[i];
  }
};

namespace rondo {

Sha256::Sha256() : context_(new evp_md_ctx_st, [](evp_md_ctx_st* it) { delete it; }) {}

void Sha256::update(std::string_view bytes) {
  context_->bytes += bytes.size();
  std::string& left = context_->left;
  if (!left.empty()) {
    const std::string_view rest = bytes.substr(0, block - left.size());
    left += rest;
    bytes.remove_prefix(rest.size());
    if (left.size() < block) return;
    context_->add_block(left.data());
  }
  for (; bytes.size() >= block; bytes.remove_prefix(block)) context_->add_block(bytes.data());
  left = bytes;
}

std::string Sha256::hex() {
  const std::uint64_t bits = 8 * context_->bytes;
  std::string padding(1 + (2 * block - 9 - context_->left.size()) % block, '\0');  // section 5.1.1
  padding[0] = static_cast<char>(0x80);
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift);
  update(padding);
  std::string text;
  for (const Word word : context_->hash) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace rondo
