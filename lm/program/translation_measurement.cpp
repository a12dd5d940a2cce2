// A measurement of a translator.
#include "lm/program/translation_measurement.h"

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/evaluation_report.h"
#include "lm/program/measurement.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/translator.h"
#include "lm/program/version.h"

namespace rondo {

using Json = nlohmann::ordered_json;

TranslationMeasurement measure(EncoderDecoder& model, const TranslationText& text, const BeamOptions& search,
                               BleuTokenization tokenization,
                               const std::function<void(std::int64_t)>& progress) {
  const auto begin = Clock::now();
  TranslationMeasurement it;
  it.types = text.target->types();
  it.sentences = text.pairs.size();
  it.search = search;
  it.nats = evaluate_pairs(model, text);
  for (const std::string& line : text.references) it.nats.bytes += std::ssize(line) + 1;
  it.scores = scores_of(translations(model, text, search, progress), text.references, tokenization);
  it.seconds = seconds_since(begin);
  return it;
}

Json json_of(const TranslationMeasurement& it) {
  Json json{{"run", it.run}, {"text", it.text}, {"split", it.split}};
  json["read"] = search_text(it.search.beam);
  json["sentences"] = it.sentences;
  json["beam"] = it.search.beam;
  json["length_penalty"] = it.search.length_penalty;
  json["coverage_penalty"] = it.search.coverage_penalty;
  json["bleu"] = it.scores.bleu();
  json["chrf"] = it.scores.chrf();
  json["bleu_signature"] = bleu_signature(it.scores.bleu_options, 1, signature_version());
  json["chrf_signature"] = chrf_signature(it.scores.chrf_options, 1, signature_version());
  json.update(json_of(it.nats));
  json["seconds"] = it.seconds;
  return json;
}

void keep(const RunFolder& run, const TranslationMeasurement& it, const EncoderDecoder& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text) {
  Json json = json_of(it);
  json["types"] = it.types;
  json["vocabulary_size"] = model.target_vocabulary();
  json["parameters"] = model.parameter_count();
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, sha256_of_text);
}

namespace {

void print_text(const TranslationMeasurement& it) {
  const Bleu bleu = rondo::bleu(it.scores.bleu_statistics, it.scores.bleu_options);
  fmt::print("{}: {} sentences, {}\n", it.text, it.sentences, search_text(it.search.beam));
  fmt::print("BLEU {:.2f}  {:.1f}/{:.1f}/{:.1f}/{:.1f}  brevity penalty {:.3f}  {}\n", bleu.score,
             bleu.precisions[0], bleu.precisions[1], bleu.precisions[2], bleu.precisions[3],
             bleu.brevity_penalty, bleu_signature(it.scores.bleu_options, 1, signature_version()));
  fmt::print("{} {:.2f}  {}\n", chrf_name(it.scores.chrf_options), it.scores.chrf(),
             chrf_signature(it.scores.chrf_options, 1, signature_version()));
  print_figures("references", it.nats);
}

}  // namespace

int evaluate_translator(const EvaluateOptions& options) {
  refuse_options_of_language_models(options, "a translator");
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  OpenTranslator run = open_translator(options.run, compute.device);
  TranslationRecipe& recipe = run.config.recipe.translation;
  for (const Setting& setting : options.settings) {
    check_input(setting.key.starts_with("decoding."),
                "{}: a run is evaluated as it was trained; only settings of [decoding] can change",
                setting.where);
    apply_setting(setting, keys_of(run.config.recipe));
  }
  const std::string& folder = options.data.empty() ? run.config.made_by.data : options.data;
  const ParallelText text = open_parallel_text(folder, recipe.data.files, recipe.data.tokenization.unit);
  const std::vector<std::string>& recorded = run.config.made_by.sha256;
  std::vector<std::string> digests = sha256_lines(text.files);
  // Of a multi-task run, texts of further languages are not read here.
  if (run.config.recipe.kind == TaskKind::multi_task && is_same_data(digests, recorded)) digests = recorded;
  warn_if_changed(folder, recorded, digests);
  const TextPair& split = text.at(split_from_string(options.split));
  Progress progress(stderr);
  const TranslationText pairs = translation_text(split, run.vocabularies, recipe.task.batches.reverse_source);
  TranslationMeasurement it =
      measure(*run.model, pairs, recipe.decoding, recipe.task.bleu_tokenization,
              progress_of(progress, "translating " + split.source.name, pairs.pairs.size()));
  progress.erase();
  it.run = options.run, it.text = split.target.name, it.split = options.split;
  keep_if_possible([&] { keep(run.folder, it, *run.model, compute, digests); });
  if (options.json)
    print_json(json_of(it));
  else
    print_text(it);
  return 0;
}

}  // namespace rondo
