/* Language models that `lm` has trained, in other programs: the C API. C99. docs/library.md has an example.
 *
 * A model is opened from its run. Text is divided into symbols, each with an id. A state is a place in a
 * text: it reads symbols, tells how probable each next one is, continues the text, and scores a continuation.
 *
 * A function that fails returns NULL, -1 or what its comment says, and rondo_last_error() then says why. No
 * argument makes a function crash, except pointers to memory that is not there: a handle that is NULL, closed
 * or of the other kind is an error. Any thread may call any function; calls for one model wait for each
 * other, and those for different models do not. */
#ifndef RONDO_H
#define RONDO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rondo_model rondo_model;
typedef struct rondo_state rondo_state;

/* Opens the language model of a run, a folder, with its best weights. NULL if anything of it is missing,
 * damaged or contradicts the rest, and for a run of another task. */
rondo_model* rondo_open(const char* run);
/* Closes a model; states of it can still be used, and hold its memory until they end. 0, or -1. */
int rondo_close(rondo_model* model);

/* The number of symbols, V; ids are 0 to V - 1. */
int64_t rondo_vocabulary_size(const rondo_model* model);
/* The bytes of a symbol, followed by a zero; `length`, unless NULL, gets their number, for they may contain
 * zeros. Valid until the model is closed and its states have ended. NULL for a wrong id. */
const char* rondo_symbol(const rondo_model* model, int32_t id, size_t* length);
/* The id of the symbol with these bytes; -1 if there is none. */
int32_t rondo_id(const rondo_model* model, const char* symbol, size_t length);
/* Writes the ids of a text to `ids`, at most `capacity` of them, and returns how many the whole text has. A
 * line ends in \n: \r and a byte-order mark are symbols as any other. Unknown symbols become <unk>, if the
 * model has it, and are an error otherwise. */
int64_t rondo_encode(const rondo_model* model, const char* text, size_t length, int32_t* ids,
                     size_t capacity);

/* The state at the beginning of a line. */
rondo_state* rondo_begin(rondo_model* model);
/* Another state at the same place. */
rondo_state* rondo_copy(const rondo_state* state);
/* 0, or -1. */
int rondo_end(rondo_state* state);

/* Reads symbols. 0, or -1: the state is then as before. */
int rondo_feed(rondo_state* state, const int32_t* ids, size_t count);
/* Writes the probability of each symbol as the next one; `count` must be V. 0, or -1. */
int rondo_probabilities(const rondo_state* state, float* probabilities, size_t count);
/* -log p of these symbols after what was read, in nats; divide by log(2) for bits. -1 for an error. */
double rondo_score(const rondo_state* state, const int32_t* ids, size_t count);

/* How symbols are sampled. All zeros: always the most probable one. */
typedef struct rondo_sampling {
  double temperature; /* divides the logits */
  int64_t top_k;      /* only the k most probable symbols; 0: all */
  double top_p;       /* only the smallest set of symbols with this probability; 0: all */
  uint64_t seed;      /* equal seeds give equal texts */
  int allow_unknown;  /* whether <unk> may be sampled */
  const char* stop;   /* the text ends before this string; NULL: nowhere */
} rondo_sampling;
/* Writes a continuation of so many symbols, or to `stop`, and a zero to `text`, as far as `capacity` allows,
 * and returns the length of the whole continuation, as snprintf() does; -1 for an error. The state stays
 * where it is. A `sampling` of NULL has the temperature 1 and the seed 1. */
int64_t rondo_generate(const rondo_state* state, size_t symbols, const rondo_sampling* sampling, char* text,
                       size_t capacity);

/* How many threads compute, for all models; as many as there are processors, or OMP_NUM_THREADS, otherwise.
 * Not while another thread computes. 0, or -1. */
int rondo_set_threads(int count);
/* Why the last function of this thread that failed did so; empty if none has. Valid until the
 * next one fails. */
const char* rondo_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
