/* autocomplete RUN TEXT: the most probable next symbols, and what the model would write. */
#include <rondo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(void) {
  fprintf(stderr, "autocomplete: %s\n", rondo_last_error());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fputs("autocomplete RUN TEXT\n", stderr);
    return 2;
  }
  rondo_model* model = rondo_open(argv[1]);
  if (!model) return fail();

  const size_t length = strlen(argv[2]), V = (size_t)rondo_vocabulary_size(model);
  int32_t* ids = malloc((length + 1) * sizeof *ids); /* a symbol has a byte or more */
  const int64_t count = rondo_encode(model, argv[2], length, ids, length + 1);
  rondo_state* state = rondo_begin(model);
  if (count < 0 || rondo_feed(state, ids, (size_t)count) != 0) return fail();

  float* p = malloc(V * sizeof *p);
  if (rondo_probabilities(state, p, V) != 0) return fail();
  for (int shown = 0; shown < 3; ++shown) {
    size_t best = 0;
    for (size_t id = 1; id < V; ++id)
      if (p[id] > p[best]) best = id;
    printf("%5.1f %%  \"%s\"\n", 100 * p[best], rondo_symbol(model, (int32_t)best, NULL));
    p[best] = 0;
  }

  char text[200];
  const rondo_sampling most_probable = {.stop = "\n"};
  if (rondo_generate(state, 40, &most_probable, text, sizeof text) < 0) return fail();
  printf("%s%s\n", argv[2], text);
  free(p), free(ids);
  return rondo_end(state) | rondo_close(model);
}
