"""Pairs of a query whose scores lie too far apart for E: an exponential a pair, all in float64."""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import uncounted
from lambdaboost.objectives.kernels.exp import FARTHEST, exp_minus
from lambdaboost.objectives.kernels.loss import curvature_of, force_of
from lambdaboost.objectives.kernels.pair_weight import gap, step


@uncounted
def wide_pairs(rule, first, last, lo, hi, slots):
    """Rows first:last against columns lo:hi of scores too far apart for E: an exponential a pair, all in float64."""
    swap, force, sigma, center = rule
    columns, s = slots.columns, slots.s
    g, r, d, h = columns[1], columns[2], columns[3], columns[-1]
    lam, mu = slots.totals
    run_s, run_g, run_r, run_d, run_h = s[lo:hi], g[lo:hi], r[lo:hi], d[lo:hi], h[lo:hi]
    run_lam, run_mu = lam[lo:hi], mu[lo:hi]
    for i in range(first, last):
        a = b = 0.0
        s_i, g_i, r_i, d_i, h_i = s[i], g[i], r[i], d[i], h[i]
        for j in range(run_s.size):
            apart = sigma * (s_i - run_s[j]) + center
            nearest = exp_minus(min(abs(apart), FARTHEST))
            e = nearest if abs(apart) < FARTHEST else 0.0
            larger = 1 / (1 + e)
            rho, rest = (e * larger, larger) if apart > 0 else (larger, e * larger)
            w = np.float64(gap(swap, g_i, r_i, run_g[j], run_r[j]))
            w *= np.float64(step(swap, d_i, h_i, run_d[j], run_h[j]))
            f = force_of(force, w * rho, rho, rest)
            c = curvature_of(force, w * rho, rho, rest)
            a += f
            b += c
            run_lam[j] -= f
            run_mu[j] += c
        lam[i] += a
        mu[i] += b


@uncounted
def wide_levels(rule, cut, levels, slots):
    """All pairs of a query whose scores lie far apart, one of the two above the cutoff."""
    start, end, run_end, top_end, _ = levels
    for b in range(start.size):
        wide_pairs(rule, start[b], top_end[b], end[b], run_end[b], slots)
        lo, hi = start[b], top_end[b]
        a = b - 1 if cut and lo < hi else -1
        while a >= 0 and run_end[a] > lo:
            wide_pairs(rule, top_end[a], end[a], lo, hi, slots)
            a -= 1
