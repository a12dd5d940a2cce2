// `lm plot` as a user starts it, and what is on its page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "data/files/files.h"
#include "lm/report/page.h"
#include "tests/lm/program/program.h"
#include "tests/lm/program/svg_document.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kept_runs = fs::path(RONDO_SOURCE_DIR) / "docs/runs";

/// The figure of this name; a failure if there is none.
const XmlElement* figure_of(const XmlElement& page, const std::string& name) {
  for (const XmlElement* it : page.all("figure"))
    if (it->at("id") == name) return it;
  ADD_FAILURE() << "no figure " << name;
  return nullptr;
}

std::set<std::string> names_of_figures(const XmlElement& page) {
  std::set<std::string> names;
  for (const XmlElement* it : page.all("figure")) names.insert(it->at("id"));
  return names;
}

bool has_text(const XmlElement& picture, const std::string& text) {
  const std::vector<std::string> texts = picture.texts("text");
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// EXPECT that a page is one file that needs nothing else, with pictures in it.
XmlElement expect_readable(const std::string& file) {
  const std::string html = bytes_of_file(file);
  for (const char* part : {"<script", "src=", "href=", "url(", "@import", "nan", "NaN"})
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  expect_contains(html, "@media (prefers-color-scheme: dark)");
  XmlElement page = xml_of(html);
  for (const XmlElement* figure : page.all("figure")) {
    SCOPED_TRACE(figure->at("id"));
    EXPECT_EQ(figure->children.at(0).name, "svg");
  }
  return page;
}

/// Three runs with a short training, of which two are the same.
class PlottedRuns : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data = new SmallData;
    data->trained("sgd", {"--epochs", "3", "--set", "train.log_every=1", "--set", "train.probe_every=1"});
    data->trained("other", {"--epochs", "2", "--set", "train.log_every=4", "--set", "model.hidden=9"});
    fs::copy(*data / "sgd", *data / "a run & its <name>", fs::copy_options::recursive);
  }
  static void TearDownTestSuite() { delete data; }
  static std::vector<std::string> names() { return {"sgd", "other", "a run & its <name>"}; }
  static std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all{"plot"};
    for (const std::string& name : names()) all.push_back(data->path(name));
    all.insert(all.end(), {"--out", data->path("page.html")});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static XmlElement page(const std::vector<std::string>& more = {}) {
    EXPECT_EQ(output_of_lm(words(more)), data->path("page.html") + "\n");
    return expect_readable(data->path("page.html"));
  }

  static SmallData* data;
};
SmallData* PlottedRuns::data = nullptr;

TEST_F(PlottedRuns, AreTogetherInEachDiagram) {
  const XmlElement whole = page();
  for (const char* name : {"loss", "learning_rate", "gradient_norm"}) {
    SCOPED_TRACE(name);
    const XmlElement* figure = figure_of(whole, name);
    ASSERT_NE(figure, nullptr);
    for (const std::string& run : names()) EXPECT_TRUE(has_text(*figure, run)) << run << " in the legend";
    EXPECT_TRUE(has_text(*figure, "epochs"));
  }
  EXPECT_TRUE(has_text(*figure_of(whole, "loss"), "perplexity"));
  EXPECT_TRUE(has_text(*figure_of(whole, "gradient_norm"), "norm, before clipping"));
  const std::vector<std::string> cells = whole.texts("td");
  for (const std::string& run : names())
    EXPECT_TRUE(std::any_of(cells.begin(), cells.end(),
                            [&](const std::string& cell) { return cell.find(run) != std::string::npos; }))
        << run << " in the table";
}

TEST_F(PlottedRuns, ShowTheFiguresOfTheirLogs) {
  std::vector<std::string> expected;
  for (const Json& line : log_of(data->path("sgd")))
    if (line.contains("step") && line.value("split", "") == "valid")
      expected.push_back(fmt::format("{:.6g}: {:.6g}", line.at("epochs_trained").get<double>(),
                                     std::exp(line.at("nats").get<double>())));
  ASSERT_GE(expected.size(), 3u) << "one an epoch, or more";
  const XmlElement whole = page();
  const std::vector<std::string> points = figure_of(whole, "loss")->texts("title");
  for (const std::string& point : expected)
    EXPECT_EQ(std::count(points.begin(), points.end(), point), 2) << point << ", of the run and its copy";
}

TEST_F(PlottedRuns, HaveTheProbesOfTheirLogs) {
  const XmlElement whole = page();
  const std::set<std::string> names = names_of_figures(whole);
  for (const char* name : {"gradients", "gradients_by_epoch", "activations", "gates"})
    EXPECT_EQ(names.count(name), 1u) << name;
}

TEST_F(PlottedRuns, AsPictures) {
  for (const std::string& name : names_of_figures(page({"--svg", data->path("pictures")})))
    EXPECT_EQ(xml_of(bytes_of_file(*data / "pictures" / (name + ".svg"))).name, "svg") << name;
}

TEST_F(PlottedRuns, ARunAloneHasItsPageInItsFolder) {
  EXPECT_EQ(output_of_lm({"plot", data->path("other")}), data->path("other") + "/plot.html\n");
  expect_readable(data->path("other/plot.html"));
}

TEST_F(PlottedRuns, WhatCannotBePlotted) {
  const std::string sgd = data->path("sgd");
  expect_refused(run_lm({"plot"}), "plot: runs is required");
  expect_refused(run_lm({"plot", sgd, "--out", sgd + "/log.jsonl"}), "log.jsonl");
  expect_refused(run_lm({"plot", sgd, "--out", data->path("absent/page.html")}), "absent");
  expect_refused(run_lm({"plot", sgd, "--svg", data->path("small.toml")}), "--svg");
  expect_refused(run_lm({"plot", data->path("absent")}), "absent: no such folder");
  const Result result = run_lm({"plot", sgd, data->path("absent"), "--out", data->path("page.html")});
  EXPECT_EQ(result.status, 2);
  expect_contains(result.err, "absent: no such folder");
  EXPECT_EQ(result.out, data->path("page.html") + "\n") << "of those that can be read";
}

TEST(KeptRuns, HavePagesOfTheirTasks) {
  const TemporaryFolder folder;
  const std::string out = folder / "page.html";
  const auto page = [&](const std::vector<std::string>& runs) {
    std::vector<std::string> words{"plot", "--out", out};
    for (const std::string& run : runs) words.push_back((kept_runs / run).string());
    EXPECT_EQ(run_lm(words).out, out + "\n");
    return expect_readable(out);
  };
  const XmlElement translation = page({"attention-multi30k", "attention-multi30k-mlstm"});
  EXPECT_TRUE(has_text(*figure_of(translation, "bleu"), "BLEU"));
  EXPECT_EQ(names_of_figures(translation).count("learning_rate"), 0u) << "their logs have no lines of steps";
  const XmlElement speech = page({"speech-digits-1"});
  EXPECT_TRUE(has_text(*figure_of(speech, "cer"), "CER (%)"));
  EXPECT_TRUE(has_text(*figure_of(speech, "loss"), "loss (nats)"));
  const XmlElement several = page({"gru-ptb-char", "classify-trec"});
  EXPECT_TRUE(has_text(*figure_of(several, "loss"), "loss (nats)"));
  expect_contains(several.texts("p").at(0), "their losses cannot be compared");
}

TEST(KeptRuns, ThePageOnPlotsShowsThem) {
  const TemporaryFolder folder;
  std::vector<std::string> words{"plot", "--out", folder / "page.html", "--svg", folder / "pictures"};
  for (const char* cell : {"lstm", "gru", "ln-lstm", "mogrifier-gru", "sru"})
    words.push_back((kept_runs / (std::string(cell) + "-ptb-char")).string());
  output_of_lm(words);
  EXPECT_TRUE(bytes_of_file(folder / "pictures/loss.svg") ==
              bytes_of_file(fs::path(RONDO_SOURCE_DIR) / "docs/figures/five-cells.svg"))
      << "lm plot draws another docs/figures/five-cells.svg";
}

TEST(KeptRuns, ASweepHasItsDiagramAndItsRuns) {
  const TemporaryFolder folder;
  const std::string sweep = (kept_runs / "ptb-sizes").string();
  output_of_lm({"plot", sweep, "--out", folder / "page.html"});
  const XmlElement page = expect_readable(folder / "page.html");
  const XmlElement* figure = figure_of(page, "sweep");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(has_text(*figure, "model.hidden"));
  for (int hidden : {24, 48, 96})
    for (int seed : {1, 2, 3})
      EXPECT_TRUE(has_text(*figure_of(page, "loss"), fmt::format("hidden={}_seed={}", hidden, seed)));
}

}  // namespace
}  // namespace rondo
