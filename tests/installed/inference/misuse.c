/* misuse RUN COPY: what a program may do wrong with the C API gives errors, and never a crash. COPY is a copy of the run,
 * which is damaged here. In what C and C++ have in common: tests/lm/inference runs it under sanitizers. */
#ifndef RONDO_H /* else it is included from the sources */
#include <rondo.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "failed: %s; the last error is: %s\n", what, rondo_last_error());
  ++failures;
}
static void expect_error(int failed, const char* part) {
  expect(failed, part);
  expect(strstr(rondo_last_error(), part) != NULL, part);
}

/* Handles that are NULL, of the other kind, or closed. */
static void refuse_handles(rondo_model* no_model, rondo_state* no_state, const char* model, const char* state) {
  float p = 0;
  int32_t id = 0;
  char text[2];
  expect_error(rondo_vocabulary_size(no_model) == -1, model);
  expect_error(rondo_symbol(no_model, 0, NULL) == NULL, model);
  expect_error(rondo_id(no_model, "a", 1) == -1, model);
  expect_error(rondo_encode(no_model, "a", 1, &id, 1) == -1, model);
  expect_error(rondo_begin(no_model) == NULL, model);
  expect_error(rondo_close(no_model) == -1, model);
  expect_error(rondo_copy(no_state) == NULL, state);
  expect_error(rondo_feed(no_state, &id, 1) == -1, state);
  expect_error(rondo_probabilities(no_state, &p, 1) == -1, state);
  expect_error(rondo_score(no_state, &id, 1) == -1, state);
  expect_error(rondo_generate(no_state, 1, NULL, text, sizeof text) == -1, state);
  expect_error(rondo_end(no_state) == -1, state);
}

static void refuse_arguments(rondo_model* model) {
  const int32_t V = (int32_t)rondo_vocabulary_size(model), wrong[] = {0, V, -1, INT32_MIN};
  rondo_state* state = rondo_begin(model);
  rondo_sampling sampling;
  memset(&sampling, 0, sizeof sampling);
  float* before = (float*)calloc((size_t)V + 1, sizeof *before);
  float* after = (float*)calloc((size_t)V, sizeof *after);
  char text[8];
  expect(rondo_probabilities(state, before, (size_t)V) == 0, "probabilities");
  for (int i = 1; i < 4; ++i) {
    expect_error(rondo_symbol(model, wrong[i], NULL) == NULL, "ids are 0 to");
    expect_error(rondo_feed(state, wrong + i, 1) == -1, "ids are 0 to");
    expect_error(rondo_score(state, wrong + i, 1) == -1, "ids are 0 to");
  }
  expect_error(rondo_feed(state, wrong, 2) == -1, "ids are 0 to");
  expect_error(rondo_feed(state, NULL, 1) == -1, "is NULL");
  expect_error(rondo_encode(model, NULL, 1, NULL, 0) == -1, "is NULL");
  expect_error(rondo_encode(model, "a", 1, NULL, 1) == -1, "is NULL");
  expect_error(rondo_id(model, NULL, 1) == -1, "is NULL");
  expect_error(rondo_id(model, "no such symbol", 14) == -1, "no symbol");
  expect_error(rondo_probabilities(state, before, (size_t)V + 1) == -1, "probabilities, of");
  expect_error(rondo_probabilities(state, NULL, (size_t)V) == -1, "is NULL");
  expect_error(rondo_generate(state, 1, NULL, NULL, 1) == -1, "is NULL");
  sampling.temperature = -1;
  expect_error(rondo_generate(state, 1, &sampling, text, sizeof text) == -1, "temperature");
  expect_error(rondo_set_threads(0) == -1, "threads");
  expect_error(rondo_open(NULL) == NULL, "is NULL");
  expect_error(rondo_open("no such folder") == NULL, "no run at");
  expect(rondo_probabilities(state, after, (size_t)V) == 0 && memcmp(before, after, (size_t)V * sizeof *after) == 0,
         "nothing that was refused has changed the state");
  /* What there is room for is written, and ends in a zero. */
  sampling.temperature = 0;
  expect(rondo_generate(state, 100, &sampling, text, sizeof text) > 8 && strlen(text) == 7, "a cut text");
  expect(rondo_generate(state, 100, &sampling, NULL, 0) > 8, "its length alone");
  expect(rondo_score(state, NULL, 0) == 0 && rondo_feed(state, NULL, 0) == 0, "no symbols");
  expect(rondo_end(state) == 0, "the state ends");
  free(before), free(after);
}

static void use_after_close(const char* run) {
  rondo_model* model = rondo_open(run);
  rondo_state *state = rondo_begin(model), *copy = rondo_copy(state);
  char text[64];
  expect(rondo_close(model) == 0, "the model is closed");
  expect(rondo_generate(state, 5, NULL, text, sizeof text) > 0, "a state outlives the handle of its model");
  expect(rondo_end(state) == 0, "the state ends");
  refuse_handles(model, state, "is closed, or is no model", "is closed, or is no state");
  refuse_handles((rondo_model*)copy, (rondo_state*)model, "or is no model", "or is no state");
  refuse_handles((rondo_model*)text, (rondo_state*)text, "or is no model", "or is no state");
  expect(rondo_end(copy) == 0, "the copy ends");
}

struct Task {
  const char *run, *expected;
  int failures;
};

static char* written(const char* run) {
  rondo_model* model = rondo_open(run);
  rondo_state* state = rondo_begin(model);
  char* text = (char*)calloc(4000, 1);
  if (rondo_generate(state, 200, NULL, text, 4000) < 0 || rondo_end(state) != 0 || rondo_close(model) != 0) *text = '\0';
  return text;
}

static void* work(void* argument) {
  struct Task* task = (struct Task*)argument;
  for (int i = 0; i < 5; ++i) {
    char* text = written(task->run);
    task->failures += strcmp(text, task->expected) != 0;
    free(text);
    task->failures += rondo_open("of the others") != NULL || strstr(rondo_last_error(), "of the others") == NULL;
  }
  return NULL;
}

static void use_two_threads(const char* run) {
  char* expected = written(run);
  struct Task tasks[2] = {{run, expected, 0}, {run, expected, 0}};
  pthread_t threads[2];
  expect(*expected != '\0', "a text");
  expect_error(rondo_open("of this thread") == NULL, "of this thread");
  for (int i = 0; i < 2; ++i) expect(pthread_create(&threads[i], NULL, work, &tasks[i]) == 0, "a thread");
  for (int i = 0; i < 2; ++i) expect(pthread_join(threads[i], NULL) == 0 && tasks[i].failures == 0, "its texts");
  expect_error(1, "of this thread");
  free(expected);
}

/* Opens the run when its file has `bytes` in place of its own, and gives it its own again. */
static void refuse_with(const char* run, const char* name, const char* bytes, size_t length, const char* part) {
  char file[4096], aside[4100];
  snprintf(file, sizeof file, "%s/%s", run, name);
  snprintf(aside, sizeof aside, "%s.own", file);
  expect(rename(file, aside) == 0, "a file is put aside");
  if (bytes != NULL) {
    FILE* it = fopen(file, "wb");
    expect(it != NULL && fwrite(bytes, 1, length, it) == length && fclose(it) == 0, "a file is written");
  }
  expect_error(rondo_open(run) == NULL, part);
  expect(rename(aside, file) == 0, "its own again");
}

static void refuse_text(const char* run, const char* name, const char* text, const char* part) {
  refuse_with(run, name, text, strlen(text), part);
}

static void refuse_damaged(const char* run) {
  static char bytes[1 << 20];
  char file[4096];
  size_t length;
  FILE* it;
  snprintf(file, sizeof file, "%s/model.safetensors", run);
  it = fopen(file, "rb");
  expect(it != NULL, "the model's file");
  length = fread(bytes, 1, sizeof bytes, it);
  fclose(it);
  refuse_with(run, "model.safetensors", bytes, length / 2, "model.safetensors");
  refuse_with(run, "model.safetensors", bytes, 4, "model.safetensors");
  bytes[length - 1] ^= 64; /* a weight, which its SHA-256 protects */
  refuse_with(run, "model.safetensors", bytes, length, "model.safetensors");
  refuse_with(run, "model.safetensors", NULL, 0, "model.safetensors");
  refuse_with(run, "vocab.txt", NULL, 0, "vocab.txt");
  refuse_text(run, "vocab.txt", "a\n<eos>\n", "not the vocabulary");
  refuse_with(run, "config.toml", NULL, 0, "no config.toml");
  refuse_text(run, "config.toml", "", "truncated");
  refuse_text(run, "config.toml", "[model", "not valid TOML");
  refuse_text(run, "config.toml", "[recipe]\ntask = \"translation\"\n[made_by]\nversion = \"1\"\n", "of the task translation");
  refuse_text(run, "config.toml", "[model]\nhidden = [1000000000]\n[made_by]\nversion = \"1\"\n", "");
}

int misuse(const char* run, const char* copy) {
  rondo_model* model = rondo_open(run);
  expect(model != NULL, "the run is opened");
  refuse_handles(NULL, NULL, "this model is NULL", "this state is NULL");
  refuse_handles((rondo_model*)(size_t)1, (rondo_state*)(size_t)1, "or is no model", "or is no state");
  refuse_arguments(model);
  expect(rondo_close(model) == 0, "the model is closed");
  use_after_close(run);
  use_two_threads(run);
  refuse_damaged(copy);
  model = rondo_open(copy);
  expect(model != NULL && rondo_close(model) == 0, "the copy is whole again");
  return failures;
}

#ifndef __cplusplus
int main(int argc, char** argv) { return argc != 3 || misuse(argv[1], argv[2]) != 0; }
#endif
