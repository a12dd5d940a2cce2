#!/usr/bin/env python3
"""Writes filterbank.json: frames of a short signal by kaldi-native-fbank 1.23, which computes what Kaldi does, and their
deltas by SciPy (a regression over five frames is a Savitzky-Golay filter of order 1).

    pip install kaldi-native-fbank numpy scipy && python3 make_filterbank_golden.py > filterbank.json
"""
import json
import random

import kaldi_native_fbank as knf
import numpy as np
from scipy.signal import savgol_filter

random.seed(1)
# Two tones that change, and noise, of 16 bits.
samples = [round(6000 * np.sin(0.03 * n + 0.00004 * n * n) + 2500 * np.sin(0.71 * n) + random.gauss(0, 300)) for n in range(1000)]


def frames_of(rate, window, step, filters, lowest, highest, energy):
    options = knf.FbankOptions()
    options.frame_opts.samp_freq = rate
    options.frame_opts.frame_length_ms = window
    options.frame_opts.frame_shift_ms = step
    options.frame_opts.dither = 0
    options.mel_opts.num_bins = filters
    options.mel_opts.low_freq = lowest
    options.mel_opts.high_freq = highest
    options.use_energy = energy
    options.energy_floor = 0
    bank = knf.OnlineFbank(options)
    bank.accept_waveform(rate, samples)
    bank.input_finished()
    return np.array([bank.get_frame(i) for i in range(bank.num_frames_ready)])


def listed(array):
    return [float(f"{x:.7g}") for x in np.asarray(array).ravel()]


cases = []
for settings in [(8000, 25, 10, 23, 20, 0, False), (8000, 20, 8, 10, 100, 3500, True), (16000, 16, 5, 8, 0, 8000, True)]:
    names = ["sample_rate", "window", "step", "filters", "lowest", "highest", "energy"]
    case = dict(zip(names, settings))
    frames = frames_of(*settings)
    case["frames"] = len(frames)
    case["numbers"] = listed(frames)
    deltas = savgol_filter(frames, 5, 1, deriv=1, axis=0, mode="nearest")
    case["deltas"] = listed(deltas)
    cases.append(case)
print(json.dumps({"samples": samples, "cases": cases}))
