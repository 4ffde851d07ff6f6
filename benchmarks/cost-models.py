#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search's cost model beside libraries, on the same measurements.

    build/release/bin/cost-model-benchmark EXPORT.jsonl ours.json
    benchmarks/cost-models.py ours.json --output=cost-model.md

cost-model-benchmark has fitted Tessera's model to parts of each task's candidates; here libraries
are fitted to the same parts, from the same features, and all are judged by what was left out:

- rank: Spearman's coefficient of expected and measured times;
- pairs: how often the faster one of two candidates of the fastest quarter is predicted;
- regret: the least time of the 12 that are expected to be fastest, over the least of all;
- ms: CPU time to fit the model and to predict the others.

In training, times above twice the least time count as twice the least time, as in Tessera's model, and
so do failures, for which Tessera has a model of its own. Failures may be among the 12, where they are
worth nothing, and are excluded from rank and pairs. In a replay each model begins with the same 34
candidates at random and then takes 12 at a time until the best is found: the fastest by its
expectation, and in their place every second time the one of the greatest expected improvement, where it
knows how sure it is.

Needs numpy, scipy, scikit-learn and xgboost. --ours=NAME=FILE, repeated, sets several versions of
Tessera's model beside each other; --models= picks libraries by name; --results=FILE keeps their
predictions for the next time.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time
import warnings

import numpy as np
from scipy.stats import norm, spearmanr

SLOW_TIMES = 2
TAKEN = 12
REPLAY_FIRST, REPLAY_STEP = 34, 12


class Task:
    def __init__(self, entry):
        self.name = entry["description"].split()[0]
        candidates = entry["candidates"]
        # The last one is the machine model's estimate.
        self.features = np.array([c["features"][:-1] for c in candidates])
        self.features = self.features[:, self.features.std(axis=0) > 0]
        self.times = np.array([c["time"] for c in candidates])
        self.expected = np.log([c["expected"] for c in candidates])
        self.own = [i for i, c in enumerate(candidates) if c["own"]]
        self.splits, self.replays = entry["splits"], entry["replays"]

    def targets(self, training):
        times = self.times[training]
        slow = SLOW_TIMES * times[times > 0].min()
        return np.log(np.where(times > 0, np.minimum(times, slow), slow))

    def best(self):
        return self.times[self.times > 0].min()


# Each returns means and deviations (or None) of the logarithms of the times of `rest`. ----------------


def machine_model(task, training, rest):
    return task.expected[rest], None


class Trees:
    """Gradient-boosted trees. `use`: the use of the machine model's estimate."""

    def __init__(self, use, **parameters):
        self.use, self.parameters = use, parameters

    def __call__(self, task, training, rest):
        import xgboost

        features = task.features
        if self.use == "feature":
            features = np.column_stack([features, task.expected])
        targets = task.targets(training)
        offset = task.expected if self.use == "margin" else np.zeros(len(task.expected))
        mean = (targets - offset[training]).mean()
        model = xgboost.XGBRegressor(n_jobs=1, random_state=0, **self.parameters)
        model.fit(features[training], targets, base_margin=offset[training] + mean)
        return model.predict(features[rest], base_margin=offset[rest] + mean).astype(float), None


class Forest:
    def __init__(self, use):
        self.use = use

    def __call__(self, task, training, rest):
        from sklearn.ensemble import RandomForestRegressor

        features = np.column_stack([task.features, task.expected])
        offset = task.expected if self.use == "margin" else np.zeros(len(task.expected))
        model = RandomForestRegressor(n_estimators=100, n_jobs=1, random_state=0)
        model.fit(features[training], task.targets(training) - offset[training])
        each = np.array([tree.predict(features[rest]) for tree in model.estimators_])
        return each.mean(axis=0) + offset[rest], each.std(axis=0)


class Process:
    """A Gaussian process; its lengths, variance and noise by the likelihood."""

    def __init__(self, lengths):
        self.lengths = lengths

    def __call__(self, task, training, rest):
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        lengths = np.full(task.features.shape[1], 2.0) if self.lengths == "each" else 2.0
        kernel = ConstantKernel(0.1, (1e-3, 1e2)) * Matern(lengths, (0.1, 100), nu=2.5) + WhiteKernel(
            1e-3, (1e-6, 1e-1)
        )
        targets = task.targets(training) - task.expected[training]
        mean = targets.mean()
        model = GaussianProcessRegressor(kernel)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Lengths reach their bounds.
            model.fit(task.features[training], targets - mean)
            means, deviations = model.predict(task.features[rest], return_std=True)
        return means + mean + task.expected[rest], deviations


BOOSTED = dict(n_estimators=200, max_depth=4, learning_rate=0.1, subsample=0.8)
MODELS = {
    "machine model alone": machine_model,
    "XGBoost": Trees("nothing", **BOOSTED),
    "XGBoost, estimate as a feature": Trees("feature", **BOOSTED),
    "XGBoost, estimate as base margin": Trees("margin", **BOOSTED),
    "XGBoost, its defaults, base margin": Trees("margin"),
    "random forest, estimate as a feature": Forest("feature"),
    "random forest of the residual": Forest("margin"),
    "scikit-learn GP, one length": Process("one"),
    "scikit-learn GP, a length for each": Process("each"),
}
# Minutes a replay.
NO_REPLAY = {"scikit-learn GP, a length for each"}

# -----------------------------------------------------------------------------------------------------


def judge(task, rest, means):
    rest, means = np.asarray(rest), np.asarray(means)
    timed = task.times[rest] > 0
    times, guesses = task.times[rest][timed], means[timed]
    rank = spearmanr(guesses, times).statistic
    quarter = np.argsort(times, kind="stable")[: len(times) // 4]
    a, b = np.triu_indices(len(quarter), 1)
    faster = np.sign(times[quarter][a] - times[quarter][b])
    guess = np.sign(guesses[quarter][a] - guesses[quarter][b])
    # Equal times carry no information; equal guesses are half right.
    pairs = (np.where(guess == 0, 0.5, guess == faster))[faster != 0].mean()
    chosen = task.times[rest][np.argsort(means, kind="stable")[:TAKEN]]
    found = chosen[chosen > 0].min() if (chosen > 0).any() else times.max()
    return {"rank": rank, "pairs": pairs, "regret": found / times.min()}


def replay(task, model, seed_order):
    order = list(seed_order[:REPLAY_FIRST])
    fastest = int(np.argmin(np.where(task.times > 0, task.times, np.inf)))
    while fastest not in order:
        rest = np.setdiff1d(np.arange(len(task.times)), order)
        means, deviations = model(task, order, rest)
        fastest_first = [int(i) for i in rest[np.argsort(means, kind="stable")]]
        if deviations is None:
            order += fastest_first[:REPLAY_STEP]
            continue
        known = task.times[order]
        gap = math.log(known[known > 0].min()) - means
        deviations = np.maximum(deviations, 1e-9)
        z = gap / deviations
        gains = gap * norm.cdf(z) + deviations * norm.pdf(z)
        gainful_first = [int(i) for i in rest[np.argsort(-gains, kind="stable")]]
        by_turns = [i for pair in zip(fastest_first[: REPLAY_STEP // 2], gainful_first) for i in pair]
        order += list(dict.fromkeys(by_turns + gainful_first[REPLAY_STEP // 2 :]))[:REPLAY_STEP]
    return order


def tries_until(task, order, factor):
    """How many candidates until one within `factor` of the best has been tried."""
    least = task.best()
    for count, index in enumerate(order, 1):
        if 0 < task.times[index] <= factor * least:
            return count
    raise AssertionError("the best is in every order")


def chance_until(task, factor):
    """The same, as expected of an order at random: (N + 1) / (good + 1)."""
    good = ((task.times > 0) & (task.times <= factor * task.best())).sum()
    return (len(task.times) + 1) / (good + 1)


def measure(tasks, model, replays):
    rows = []
    for task in tasks:
        for split in task.splits:
            training, rest = split["training"], np.array(split["rest"])
            begin = time.process_time()
            means, _ = model(task, training, rest)
            seconds = time.process_time() - begin
            rows.append(dict(judge(task, rest, means), task=task.name, kind=split["kind"],
                             n=len(training), seconds=seconds))
    orders = [[task.name, replay(task, model, r["order"])] for task in tasks for r in task.replays if replays]
    return rows, orders


def measure_ours(tasks):
    rows = []
    for task in tasks:
        for split in task.splits:
            rows.append(dict(judge(task, split["rest"], split["ranks"]), task=task.name, kind=split["kind"],
                             n=len(split["training"]), seconds=split["fit_s"] + split["predict_s"]))
    return rows, [[task.name, r["order"]] for task in tasks for r in task.replays]


def measure_failures(tasks, n):
    """How often Tessera's model distinguishes a failed candidate from one that did not fail."""
    right = pairs = 0
    for task in tasks:
        for split in task.splits:
            if split["kind"] != "random" or len(split["training"]) != n:
                continue
            success, timed = np.array(split["successes"]), task.times[split["rest"]] > 0
            difference = success[timed][:, None] - success[~timed][None, :]
            right += (difference > 0).sum() + 0.5 * (difference == 0).sum()
            pairs += difference.size
    return right / pairs


def geometric(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def by_task(rows, key, mean):
    """A mean for each task, over its parts."""
    tasks = dict.fromkeys(row["task"] for row in rows)
    return [mean([row[key] for row in rows if row["task"] == task]) for task in tasks]


def summarize(rows):
    rank, pairs = by_task(rows, "rank", statistics.fmean), by_task(rows, "pairs", statistics.fmean)
    regret = by_task(rows, "regret", geometric)
    return (f"{statistics.fmean(rank):.3f} ({min(rank):.2f} to {max(rank):.2f}) | "
            f"{statistics.fmean(pairs):.3f} ({min(pairs):.2f} to {max(pairs):.2f}) | "
            f"{geometric(regret):.4f} (at most {max(regret):.3f}) | "
            f"{1e3 * statistics.median(row['seconds'] for row in rows):.3g}")


def write_report(results, tasks, file):
    for kind, words in (("first", "The first n candidates of the search, in its order"),
                        ("random", "n candidates at random, five times")):
        for n in sorted({row["n"] for rows, _ in results.values() for row in rows}):
            some = {name: [r for r in rows if r["kind"] == kind and r["n"] == n] for name, (rows, _) in results.items()}
            count = len({r["task"] for r in next(iter(some.values()))})
            print(f"\n{words}: n = {n}, {count} tasks\n", file=file)
            print("| model | rank | pairs | regret | ms |\n|---|---|---|---|---|", file=file)
            for name, rows in some.items():
                print(f"| {name} | {summarize(rows)} |", file=file)
    by_name = {task.name: task for task in tasks}
    print("\nReplays: candidates until one within 1 %, and the best, had been tried\n", file=file)
    print("| model | within 1 % | the best |\n|---|---|---|", file=file)
    for name, (_, orders) in results.items():
        if orders:
            cells = [f"{geometric([tries_until(by_name[task], order, f) for task, order in orders]):.1f}"
                     for f in (1.01, 1.0)]
            print(f"| {name} | {' | '.join(cells)} |", file=file)
    print(f"| chance | {' | '.join(f'{geometric([chance_until(t, f) for t in tasks]):.1f}' for f in (1.01, 1.0))} |",
          file=file)


def write_machine(tasks, file):
    print("\nThe machine model's estimates beside the times, and the search\n", file=file)
    print("| task | timed | failed | rank | of the fastest half | estimate / time, median (5 % to 95 %) | own / best | "
          "within 1 % at | the best at |\n|---|---|---|---|---|---|---|---|---|", file=file)
    for task in tasks:
        timed = task.times > 0
        times, expected = task.times[timed], np.exp(task.expected[timed])
        half = times <= np.median(times)
        ratio = np.quantile(expected / times, [0.5, 0.05, 0.95])
        order = list(range(len(task.times)))
        own = task.times[task.own[0]] / task.best() if task.own else math.nan
        print(f"| {task.name} | {timed.sum()} | {(~timed).sum()} | {spearmanr(expected, times).statistic:.3f} | "
              f"{spearmanr(expected[half], times[half]).statistic:.3f} | "
              f"{ratio[0]:.2f} ({ratio[1]:.2f} to {ratio[2]:.2f}) | {own:.3f} | "
              f"{tries_until(task, order, 1.01)} | {tries_until(task, order, 1.0)} |", file=file)


def write_progress(tasks, file):
    """How near the best the search had come, with what the compiler chooses and without."""
    print("\nThe best of the first n candidates over the best of all, and the candidates between these n and the n "
          "before\n", file=file)
    print("| n | best | without the compiler's choice | twice the best or slower | failed |\n|---|---|---|---|---|",
          file=file)
    before = 0
    for n in (12, 35, 64, 128, 256, 512):
        best, without, slow, failed, count = [], [], 0, 0, 0
        for task in tasks:
            times = np.where(task.times > 0, task.times, np.inf)
            best.append(times[:n].min() / task.best())
            without.append(np.delete(times, task.own)[:n].min() / task.best())
            some = times[before:n]
            count, failed = count + len(some), failed + int(np.isinf(some).sum())
            slow += int((np.isfinite(some) & (some >= 2 * task.best())).sum())
        print(f"| {n} | {geometric(best):.4f} (at most {max(best):.3f}) | {geometric(without):.4f} (at most "
              f"{max(without):.3f}) | {100 * slow / count:.1f} % | {100 * failed / count:.1f} % |", file=file)
        before = n


def write_failures(tasks, file):
    sizes = sorted({len(split["training"]) for task in tasks for split in task.splits})
    print("\nOf a candidate that failed and one that did not, Tessera's model knows which is which in "
          + ", ".join(f"{100 * measure_failures(tasks, n):.0f} % (n = {n})" for n in sizes)
          + " of the pairs, candidates at random.", file=file)


def read(path):
    with open(path) as file:
        return [Task(entry) for entry in json.load(file)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", help="what cost-model-benchmark has written")
    parser.add_argument("--ours", action="append", default=[], metavar="NAME=FILE",
                        help="another version's, of the same export")
    parser.add_argument("--models", default="", help="a part of the names of libraries to fit; 'none' for none")
    parser.add_argument("--results", help="JSON: libraries that are there are not fitted again")
    parser.add_argument("--output", help="tables in Markdown; standard output by default")
    options = parser.parse_args()
    tasks = read(options.file)
    results = {"Tessera": measure_ours(tasks)}
    for text in options.ours:
        name, _, path = text.partition("=")
        results["Tessera, " + name] = measure_ours(read(path))
    kept = {}
    if options.results and os.path.exists(options.results):
        with open(options.results) as file:
            kept = json.load(file)
    for name, model in MODELS.items():
        if options.models not in name:
            continue
        if name not in kept:
            begin = time.process_time()
            kept[name] = measure(tasks, model, name not in NO_REPLAY)
            print(f"{name}: {time.process_time() - begin:.0f} s", file=sys.stderr)
        results[name] = kept[name]
    if options.results:
        with open(options.results, "w") as file:
            json.dump(kept, file)
    with open(options.output, "w") if options.output else sys.stdout as file:
        write_report(results, tasks, file)
        write_machine(tasks, file)
        write_progress(tasks, file)
        write_failures(tasks, file)


if __name__ == "__main__":
    main()
