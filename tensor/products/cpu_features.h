// Instruction sets that this CPU and its operating system have. Usable before constructors have run.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace rondo {

#if defined(__x86_64__)
inline bool cpu_has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
/// With the extensions of all CPUs that have it but the first ones: what x86-64-v4 has.
inline bool cpu_has_avx512() {
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}
inline bool cpu_has_avx512_bf16() { return cpu_has_avx512() && __builtin_cpu_supports("avx512bf16"); }
inline bool cpu_has_avx512_vnni() { return cpu_has_avx512() && __builtin_cpu_supports("avx512vnni"); }

/// AMX with products of bf16 (not every compiler's __builtin_cpu_supports() knows it), and whether the system
/// has enabled its registers. It must also grant them: system_grants_amx().
inline bool cpu_has_amx_bf16() {
  constexpr unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24, tile_registers = 3u << 17;
  unsigned eax, ebx, ecx, edx, enabled, upper_half;
  if (!cpu_has_avx2() || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
  __asm__ volatile("xgetbv" : "=a"(enabled), "=d"(upper_half) : "c"(0));
  return (edx & amx_bf16) && (edx & amx_tile) && (enabled & tile_registers) == tile_registers;
}
/// Asks Linux to let all threads of this process use AMX, which enlarges their signal frames by 8 KB: refused
/// if a thread has a small alternate signal stack. Linux's Documentation/arch/x86/xstate.rst.
inline bool system_grants_amx() {
  constexpr int arch_req_xcomp_perm = 0x1023, xfeature_xtiledata = 18;
  return syscall(SYS_arch_prctl, arch_req_xcomp_perm, xfeature_xtiledata) == 0;
}
#endif

}  // namespace rondo
