// `lm plot` as a user starts it, and what is on its page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <set>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

const fs::path kept_runs = fs::path(RONDO_SOURCE_DIR) / "docs/runs";

/// The first group of each match of a regular expression.
Words matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  Words found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}
/// What stands in the elements of this name.
Words texts_in(const std::string& page, const std::string& element) {
  return matches(page, "<" + element + "[^>]*>([^<]*)</" + element + ">");
}
bool has_text(const std::string& picture, const std::string& text) {
  const Words texts = texts_in(picture, "text");
  return std::ranges::find(texts, text) != texts.end();
}
/// The figure of this name; a failure if there is none.
std::string figure_of(const std::string& page, const std::string& name) {
  const std::size_t begin = page.find("<figure id='" + name + "'>\n<svg ");
  EXPECT_NE(begin, std::string::npos) << "no figure " << name;
  return begin == std::string::npos ? "" : page.substr(begin, page.find("</figure>", begin) - begin);
}
std::set<std::string> figures_on(const std::string& page) {
  const Words names = matches(page, "<figure id='([^']*)'>");
  return {names.begin(), names.end()};
}

/// The page that a command writes, which needs no other file.
std::string page_of(const Words& runs, const std::string& out, const Words& more = {}) {
  EXPECT_EQ(run_lm(Words{"plot"} + runs + Words{"--out", out} + more).out, out + "\n");
  const std::string page = bytes_of_file(out);
  for (const char* part : {"<script", "src=", "href=", "url(", "@import", "nan", "NaN"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  expect_contains(page, "@media (prefers-color-scheme: dark)");
  return page;
}

TEST(Plot, DrawsTheLogsOfSeveralRuns) {
  const SmallData data;
  data.trained("sgd", {"--epochs", "3", "train.log_every=1", "train.probe_every=1"});
  data.trained("other", {"--epochs", "2", "train.log_every=4", "model.hidden=9"});
  fs::copy(data / "sgd", data / "a run & its <name>", fs::copy_options::recursive);
  const std::string page = page_of({data.path("sgd"), data.path("other"), data.path("a run & its <name>")},
                                   data.path("page.html"), {"--svg", data.path("pictures")});
  for (const char* name : {"loss", "learning_rate", "gradient_norm"})
    for (const char* text : {"sgd", "other", "a run &amp; its &lt;name&gt;", "epochs"})
      EXPECT_TRUE(has_text(figure_of(page, name), text)) << name << ": " << text;
  EXPECT_TRUE(has_text(figure_of(page, "loss"), "perplexity"));
  for (const char* run : {"(sgd)", "(other)", "(a run &amp; its &lt;name&gt;)"}) expect_contains(page, run);

  const Words points = texts_in(figure_of(page, "loss"), "title");
  for (const Json& line : log_of(data.path("sgd")))
    if (line.contains("step") && line.value("split", "") == "valid") {
      const std::string point = fmt::format("{:.6g}: {:.6g}", line.at("epochs_trained").get<double>(),
                                            std::exp(line.at("nats").get<double>()));
      EXPECT_EQ(std::ranges::count(points, point), 2) << "of the run and its copy";
    }
  for (const char* name : {"gradients", "gradients_by_epoch", "activations", "gates"}) figure_of(page, name);
  for (const std::string& name : figures_on(page))
    EXPECT_TRUE(bytes_of_file(data / "pictures" / (name + ".svg")).starts_with("<svg ")) << name;

  const std::string sgd = data.path("sgd");
  EXPECT_EQ(output_of_lm({"plot", sgd}), sgd + "/plot.html\n") << "a run alone";
  expect_refused({"plot"}, "plot: runs is required");
  expect_refused({"plot", sgd, "--out", sgd + "/log.jsonl"}, "log.jsonl");
  expect_refused({"plot", sgd, "--out", data.path("absent/page.html")}, "absent");
  expect_refused({"plot", sgd, "--svg", data.path("small.toml")}, "--svg");
  const Result result = run_lm({"plot", sgd, data.path("absent"), "--out", data.path("page.html")});
  EXPECT_EQ(result.status, 2);
  expect_contains(result.err, "absent: no such folder");
  EXPECT_EQ(result.out, data.path("page.html") + "\n") << "of those that can be read";
}

TEST(Plot, DrawsKeptRunsOfTheirTasks) {
  const TemporaryFolder folder;
  const auto page = [&](const Words& runs, const Words& more = {}) {
    Words paths;
    for (const std::string& run : runs) paths.push_back((kept_runs / run).string());
    return page_of(paths, folder / "page.html", more);
  };
  const std::string translation = page({"attention-multi30k", "attention-multi30k-mlstm"});
  for (const char* text : {"BLEU", "multi30k-mlstm"})
    EXPECT_TRUE(has_text(figure_of(translation, "bleu"), text)) << text;
  EXPECT_EQ(figures_on(translation).count("learning_rate"), 0u) << "their logs have no lines of steps";
  const std::string speech = page({"speech-digits-1"});
  EXPECT_TRUE(has_text(figure_of(speech, "cer"), "CER (%)"));
  EXPECT_TRUE(has_text(figure_of(speech, "loss"), "loss (nats)"));
  const std::string several = page({"gru-ptb-char", "classify-trec"});
  EXPECT_TRUE(has_text(figure_of(several, "loss"), "loss (nats)"));
  expect_contains(texts_in(several, "p").at(0), "their losses cannot be compared");

  const std::string sweep = page({"ptb-sizes"});
  EXPECT_TRUE(has_text(figure_of(sweep, "sweep"), "model.hidden"));
  EXPECT_TRUE(has_text(figure_of(sweep, "loss"), "hidden=96, 3 seeds"));
  expect_contains(figure_of(sweep, "loss"), "<polygon ");

  const std::string readers = page({"attentive-reader-lstm-1", "attentive-reader-lstm-2",
                                    "attentive-reader-bn-lstm-1", "attentive-reader-bn-lstm-3"});
  EXPECT_TRUE(has_text(figure_of(readers, "loss"), "bn-lstm, 2 seeds"));

  page({"lstm-ptb-char", "gru-ptb-char", "ln-lstm-ptb-char", "mogrifier-gru-ptb-char", "sru-ptb-char"},
       {"--svg", folder / "pictures"});
  EXPECT_TRUE(bytes_of_file(folder / "pictures/loss.svg") ==
              bytes_of_file(fs::path(RONDO_SOURCE_DIR) / "docs/figures/five-cells.svg"))
      << "lm plot draws another docs/figures/five-cells.svg";
}

}  // namespace
}  // namespace rondo
