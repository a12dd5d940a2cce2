#!/usr/bin/env python3
"""Pages of `lm plot` in a real browser: five runs, a sweep, probes. screenshots.py LM RUNS FOLDER
writes screenshots of them, light and dark, to FOLDER, and checks there that no text lies on another, outside its diagram or
outside the page, and that none is less than 8 pixels high. RUNS is docs/runs. Exit status 77, skipped, where no Chromium is
installed."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2]))
from tiny_run import Workshop  # noqa: E402

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FIVE_CELLS = {"lstm": (), "gru": ("--set", "model.forget_bias=0"), "rnn": (), "mgu": (), "mi_lstm": ()}

# What overlaps, by what is shown: the result replaces the page.
CHECK = """<script>
const complaints = [];
const box = it => it.getBoundingClientRect();
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                       Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
for (const svg of document.querySelectorAll('figure > svg')) {
  const texts = [...svg.querySelectorAll('text')], whole = box(svg);
  const scale = whole.width / svg.viewBox.baseVal.width;
  texts.forEach((a, i) => {
    const of = box(a);
    if (parseFloat(getComputedStyle(a).fontSize) * scale < 7.9)
      complaints.push(`'${a.textContent}' is too small in ${svg.parentNode.id}`);
    if (of.left < whole.left - 1 || of.right > whole.right + 1 || of.top < whole.top - 1 || of.bottom > whole.bottom + 1)
      complaints.push(`'${a.textContent}' is outside of ${svg.parentNode.id}`);
    texts.slice(0, i).forEach(b => {
      if (meet(of, box(b)))
        complaints.push(`'${a.textContent}' lies on '${b.textContent}' in ${svg.parentNode.id}`);
    });
  });
}
const figures = [...document.querySelectorAll('figure')];
figures.forEach((a, i) => figures.slice(0, i).forEach(b => {
  if (meet(box(a), box(b))) complaints.push(`${a.id} lies on ${b.id}`);
}));
if (document.documentElement.scrollWidth > innerWidth) complaints.push('the page is wider than its window');
const result = {complaints, texts: document.querySelectorAll('svg text').length, figures: figures.map(it => it.id)};
document.body.textContent = 'RESULT' + JSON.stringify(result) + 'END';
</script>"""


def browse(page, *options):
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
             "--virtual-time-budget=2000", *options, page.as_uri()]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout


def look_at(page, name, folder, width, height):
    """The screenshots, and what the check of the page says."""
    for scheme, number in (("light", 1), ("dark", 0)):
        browse(page, f"--window-size={width},{height}", f"--screenshot={folder / f'{name}-{scheme}.png'}",
               f"--blink-settings=preferredColorScheme={number}")
    checked = page.with_suffix(".check.html")
    checked.write_text(page.read_text().replace("</body>", CHECK + "</body>"))
    told = browse(checked, f"--window-size={width},{height}", "--dump-dom")
    return json.loads(html.unescape(re.search("RESULT(.*)END", told).group(1)))


def main():
    program, kept, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    if not BROWSER:
        print("skipped: no chromium")
        sys.exit(77)
    folder.mkdir(parents=True, exist_ok=True)
    with Workshop(program) as shop:
        runs = []
        for cell, settings in FIVE_CELLS.items():
            runs.append(shop.path / f"{cell}-1")
            shop.must(*shop.train(runs[-1], "--epochs", 30, "--set", f"model.cell={cell}", "--set", "model.hidden=16",
                                  "--set", "train.probe_every=10", *settings))
        published = shop.path / "published-1"
        shop.must(*shop.train(published, "--epochs", 4, "--set", "published.valid=12.5", "--set", "published.test=12"))
        pages = {
            "five-runs": ([*runs], {"loss", "learning_rate", "gradient_norm", "gradients", "gates"}),
            "one-run": ([runs[0]], {"loss", "activations", "gates"}),
            "sweep": ([kept / "ptb-sizes"], {"sweep", "sweep_test", "sweep_time", "loss"}),
            "translation": ([kept / "attention-multi30k", kept / "attention-multi30k-mlstm"], {"loss", "bleu"}),
            "published": ([published], {"loss"}),
        }
        failures = []
        for name, (words, expected) in pages.items():
            page = shop.path / f"{name}.html"
            shop.must("plot", *words, "--out", page)
            for width, height in ((1400, 1900), (500, 1600)):  # a desk, and the narrowest window of Chromium
                result = look_at(page, name if width > 1000 else f"{name}-narrow", folder, width, height)
                failures += [f"{name}, {width} wide: {it}" for it in result["complaints"]]
                missing = expected - set(result["figures"])
                if missing or result["texts"] < 10:
                    failures.append(f"{name}: no {missing}, {result['texts']} texts")
        for failure in failures:
            print("FAILED:", failure)
        print(f"{len(pages)} pages in {BROWSER}; screenshots in {folder}")
        sys.exit(bool(failures))


if __name__ == "__main__":
    main()
