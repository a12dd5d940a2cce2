// Preloaded into `lm`: counts its I/O calls below a folder, records them, and makes one of them go wrong.
//   FAULTS_ROOT    the folder, absolute
//   FAULTS_RECORD  a file for what was called, a line each: NUMBER CALL FILE-DESCRIPTOR PATH DETAIL
//   FAULTS_AT      the number, from 1, of the call that goes wrong
//   FAULTS_KIND    how: kill (before the call), half (a write, and then kill), or an errno
//   FAULTS_ALWAYS  the errno in all calls from then on, as on a full disk
// tests/faults/sweep.py is what uses it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FILES 1024

static char path_of[FILES][512];  // of the open files below the folder; "": another file
static char only_read[FILES];     // its close matters to nobody
static long calls;

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

static int is_below_root(const char* path) {
  const char* root = setting("FAULTS_ROOT");
  return *root && strncmp(path, root, strlen(root)) == 0;
}

static int is_watched(int file) { return file >= 0 && file < FILES && path_of[file][0]; }

static void record(const char* call, int file, const char* path, const char* detail, const void* bytes,
                   size_t size) {
  static int to = -1;
  if (!*setting("FAULTS_RECORD")) return;
  if (to < 0) to = REAL(open)(setting("FAULTS_RECORD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  dprintf(to, "%ld\t%s\t%d\t%s\t%s", calls, call, file, path, detail);
  for (size_t i = 0; i < size; ++i) dprintf(to, "%02x", ((const unsigned char*)bytes)[i]);
  dprintf(to, "\n");
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Counts a call; whether it must fail, with errno set.
static int fails(void) {
  const long at = atol(setting("FAULTS_AT"));
  const int error = atoi(setting("FAULTS_KIND"));
  ++calls;
  if (calls == at && strcmp(setting("FAULTS_KIND"), "kill") == 0) die();
  if (at == 0 || error == 0) return 0;
  errno = error;
  return calls == at || (calls > at && *setting("FAULTS_ALWAYS"));
}

static int opened(int folder, const char* given, int flags, mode_t mode) {
  char path[sizeof path_of[0]];
  snprintf(path, sizeof path, "%s%s%s", is_watched(folder) ? path_of[folder] : "",
           is_watched(folder) ? "/" : "", given);
  const int writes = flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC) || (flags & O_DIRECTORY) == O_DIRECTORY;
  const int watched = is_below_root(path);
  if (watched && fails()) return -1;
  const int file = REAL(openat)(folder, given, flags, mode);
  if (file >= 0 && file < FILES) {
    strcpy(path_of[file], watched ? path : "");
    only_read[file] = !writes;
  }
  char detail[2] = {flags & O_TRUNC ? 't' : 0, 0};
  if (watched && file >= 0) record(writes ? "open" : "open to read", file, path, detail, NULL, 0);
  return file;
}

#define MODE(flags)                        \
  mode_t mode = 0;                         \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list rest;                          \
    va_start(rest, flags);                 \
    mode = va_arg(rest, mode_t);           \
    va_end(rest);                          \
  }
int open(const char* path, int flags, ...) {
  MODE(flags)
  return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  return opened(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE(flags)
  return opened(folder, path, flags, mode);
}

ssize_t write(int file, const void* bytes, size_t size) {
  if (!is_watched(file)) return REAL(write)(file, bytes, size);
  if (fails()) return -1;
  const int half = calls == atol(setting("FAULTS_AT")) && strcmp(setting("FAULTS_KIND"), "half") == 0;
  const ssize_t written = REAL(write)(file, bytes, half ? size / 2 : size);
  if (half) die();
  if (written >= 0) record("write", file, path_of[file], "", bytes, (size_t)written);
  return written;
}

#define READ(name, arguments)                                    \
  if (!is_watched(file)) return REAL(name) arguments;            \
  if (fails()) return -1;                                        \
  const ssize_t count = REAL(name) arguments;                    \
  if (count >= 0) record(#name, file, path_of[file], "", "", 0); \
  return count;

ssize_t read(int file, void* bytes, size_t size){READ(read, (file, bytes, size))} ssize_t
    pread(int file, void* bytes, size_t size, off_t begin) {
  READ(pread, (file, bytes, size, begin))
}

int close(int file) {
  if (is_watched(file) && only_read[file]) path_of[file][0] = 0;
  if (!is_watched(file)) return REAL(close)(file);
  const int failed = fails(), error = errno;
  record("close", file, path_of[file], "", NULL, 0);
  path_of[file][0] = 0;
  const int result = REAL(close)(file);
  errno = failed ? error : errno;
  return failed ? -1 : result;
}

// The others: call(arguments), recorded when it went well.
#define WATCHED(watched, name, arguments, file, path, ...)     \
  if (!(watched)) return REAL(name) arguments;                 \
  if (fails()) return -1;                                      \
  const int result = REAL(name) arguments;                     \
  char detail[512];                                            \
  snprintf(detail, sizeof detail, __VA_ARGS__);                \
  if (result == 0) record(#name, file, path, detail, NULL, 0); \
  return result;

int fsync(int file) { WATCHED(is_watched(file), fsync, (file), file, path_of[file], "%s", "") }
int flock(int file, int how) { WATCHED(is_watched(file), flock, (file, how), file, path_of[file], "%d", how) }
int ftruncate(int file, off_t size) {
  WATCHED(is_watched(file), ftruncate, (file, size), file, path_of[file], "%ld", (long)size)
}
int rename(const char* from, const char* to) {
  WATCHED(is_below_root(to), rename, (from, to), -1, from, "%s", to)
}
int unlink(const char* path) { WATCHED(is_below_root(path), unlink, (path), -1, path, "%s", "") }
int mkdir(const char* path, mode_t mode) {
  WATCHED(is_below_root(path), mkdir, (path, mode), -1, path, "%s", "")
}

// A stream calls what the C library has inside, which no preloaded function replaces: one that reads below
// the folder is made of the functions above.
static ssize_t stream_read(void* file, char* bytes, size_t size) {
  return read((int)(intptr_t)file, bytes, size);
}
static int stream_close(void* file) { return close((int)(intptr_t)file); }
FILE* fopen(const char* path, const char* mode) {
  if (mode[0] != 'r' || !is_below_root(path)) return REAL(fopen)(path, mode);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const cookie_io_functions_t functions = {.read = stream_read, .close = stream_close};
  return file < 0 ? NULL : fopencookie((void*)(intptr_t)file, mode, functions);
}
