#!/usr/bin/env python3
"""Writes logistic_regression.json: data, and what scikit-learn and SciPy make of them.

Run it with scikit-learn 1.5 or later (`pip install scikit-learn`) from this folder.
"""
import json

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score

random = np.random.default_rng(1)
X = random.normal(size=(80, 5)).astype(np.float32).round(3)
noise = random.normal(size=(80, 3))
scores = X[:, :3] * [1.0, -0.5, 0.8] + 0.3 * X[:, 2:5] + noise
cases = []
for classes in (2, 3):
    labels = scores[:, :classes].argmax(axis=1)
    for C in (0.5, 8.0):
        model = LogisticRegression(C=C, tol=1e-10, max_iter=100000).fit(X, labels)
        cases.append({
            "classes": classes, "C": C, "labels": labels.tolist(),
            "weights": np.hstack([model.coef_, model.intercept_[:, None]]).ravel().tolist(),
            "probabilities": model.predict_proba(X[:4]).ravel().tolist(),
        })
a, b = scores[:, 0].round(1), scores[:, 1].round(1)  # with equal ranks
truth, guess = cases[0]["labels"], (X[:, 0] > X[:, 1]).astype(int).tolist()
Y = (X @ random.normal(size=(5, 2)) + 0.1 * random.normal(size=(80, 2))).round(3)
json.dump({
    "X": X.astype(float).round(3).ravel().tolist(), "width": 5, "cases": cases,
    "a": a.tolist(), "b": b.tolist(), "pearson": pearsonr(a, b)[0], "spearman": spearmanr(a, b)[0],
    "truth": truth, "guess": guess, "f1": 100 * f1_score(truth, guess),
    "Y": Y.ravel().tolist(), "map": LinearRegression(fit_intercept=False).fit(X, Y).coef_.T.ravel().tolist(),
}, open("logistic_regression.json", "w"), indent=0)
