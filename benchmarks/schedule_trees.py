# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trees that correct the estimated times of schedules (lib/Scheduling/ScheduleCorrection.cpp), and their fit.

Gradient boosting of two losses: the squares of the logarithms of time / estimate that are left, and the order of the
schedules of a task (`Pairs`). All nodes of a level ask the same question. The trees are those of
lib/Target/NVIDIA/ScheduleCorrections.cpp, which `write` changes."""

import dataclasses
import pathlib
import re

import numpy as np

TABLE = pathlib.Path(__file__).parent.parent / "lib/Target/NVIDIA/ScheduleCorrections.cpp"
DEPTH = 4
#: Leaves are integers: ten-thousandths of the logarithm.
UNIT = 1e-4
#: The trees of a fit: `treesOfFit` of the table.
TREES = 300


@dataclasses.dataclass
class Tree:
    features: list
    thresholds: list
    leaves: list


@dataclasses.dataclass
class Options:
    trees: int = TREES
    rate: float = 0.08
    #: The weight of a leaf of 0 that each leaf also has.
    prior: float = 5.0
    #: The shares of the records and of the features that each tree sees.
    records: float = 0.7
    features: float = 0.6
    thresholds: int = 31
    #: The weight of the order of schedules; and the difference of logarithms at which it is as good as certain.
    order: float = 6.0
    certain: float = 0.1
    seed: int = 1


def list_thresholds(column, most):
    """Numbers between those of a column, as they are written."""
    values = np.unique(column)
    between = (values[1:] + values[:-1]) / 2
    if len(between) > most:
        between = np.quantile(column, np.linspace(0, 1, most + 2)[1:-1])
    return np.unique(np.array([float(f"{number:.5g}") for number in between], np.float32))


class Pairs:
    """The pairs of schedules of one task of which one is faster. The loss of a pair is the logistic one of the
    difference of their estimates, times what the slower one takes more; pairs count less the slower the faster one is,
    as a choice is among the fastest."""
    #: The logarithm beyond which schedules are equally slow, and that by which the faster one counts a third.
    MOST, NEAR = 0.7, 0.05

    def __init__(self, tasks, logarithms, base):
        self.base = base
        faster, slower, weights = [], [], []
        for task in np.unique(tasks):
            its = np.flatnonzero(tasks == task)
            its = its[np.argsort(logarithms[its], kind="stable")]
            behind = np.minimum(logarithms[its] - logarithms[its[0]], self.MOST)
            first, second = np.nonzero(behind[:, None] < behind[None, :])
            faster.append(its[first])
            slower.append(its[second])
            weights.append((behind[second] - behind[first]) * np.exp(-behind[first] / self.NEAR))
        self.faster, self.slower, self.weights = map(np.concatenate, (faster, slower, weights))

    def get_slopes(self, sums, options):
        """The slopes and the curvatures of the loss by the corrections of all schedules."""
        estimates = self.base + sums
        apart = (estimates[self.slower] - estimates[self.faster]) / options.certain
        wrong = 1 / (1 + np.exp(apart))
        slopes = options.order * self.weights * wrong / options.certain
        curves = slopes * (1 - wrong) / options.certain
        count = len(sums)
        return (np.bincount(self.slower, slopes, count) - np.bincount(self.faster, slopes, count),
                np.bincount(self.slower, curves, count) + np.bincount(self.faster, curves, count))


def find_question(bins, thresholds, columns, node, weights, gains, nodes, prior):
    """The feature and the index of the threshold by which all nodes gain most."""
    count = max(len(some) for some in thresholds) + 1
    best, found = -1.0, (columns[0], 0)
    for feature in columns:
        if len(thresholds[feature]) == 0:
            continue
        index = node * count + bins[:, feature]
        sums = np.bincount(index, gains, nodes * count).reshape(nodes, count).cumsum(1)
        counts = np.bincount(index, weights, nodes * count).reshape(nodes, count).cumsum(1)
        gain = (sums ** 2 / (counts + prior) + (sums[:, -1:] - sums) ** 2 / (counts[:, -1:] - counts + prior)).sum(0)
        at = int(gain[:len(thresholds[feature])].argmax())
        if gain[at] > best:
            best, found = gain[at], (feature, at)
    return found


def fit(features, errors, weights, tasks, estimates, options=Options()):
    """Trees for the logarithms `errors` of estimates, whose logarithms order the schedules of each of the `tasks`."""
    pairs = Pairs(tasks, estimates + errors, estimates)
    features = features.astype(np.float32)
    generator = np.random.default_rng(options.seed)
    thresholds = [list_thresholds(column, options.thresholds) for column in features.T]
    bins = np.stack([np.searchsorted(some, column, side="left") for some, column in zip(thresholds, features.T)], 1)
    count, width = features.shape
    left = np.array(errors)
    trees = []
    for _ in range(options.trees):
        sampled = generator.random(count) < options.records
        slopes, curves = pairs.get_slopes(errors - left, options)
        some = sampled * (weights + curves)
        gains = sampled * (weights * left + slopes)
        columns = np.sort(generator.choice(width, max(1, int(width * options.features)), replace=False))
        node, questions = np.zeros(count, int), []
        for level in range(DEPTH):
            feature, at = find_question(bins, thresholds, columns, node, some, gains, 1 << level, options.prior)
            questions.append((int(feature), float(thresholds[feature][at])))
            node = 2 * node + (bins[:, feature] > at)
        sums, counts = np.bincount(node, gains, 1 << DEPTH), np.bincount(node, some, 1 << DEPTH)
        leaves = np.rint(sums / (counts + options.prior) * options.rate / UNIT).astype(int)
        left -= leaves[node] * UNIT
        trees.append(Tree([feature for feature, _ in questions], [at for _, at in questions], leaves.tolist()))
    return trees


def predict(trees, features):
    """The logarithms by which estimates are corrected: the mean of the fits."""
    features = features.astype(np.float32)
    sums = np.zeros(len(features), int)
    for tree in trees:
        node = np.zeros(len(features), int)
        for feature, threshold in zip(tree.features, tree.thresholds):
            node = 2 * node + (features[:, feature] > np.float32(threshold))
        sums += np.array(tree.leaves)[node]
    return sums * UNIT / max(1, len(trees) // TREES)


def read(path=TABLE):
    """The trees for plain matmuls, those of the first fit first; those for other contractions of integers; and those for
    all others."""
    trees = []
    for row in re.findall(r"^ *\{\{\{(.*)\}\}\},", path.read_text(), re.MULTILINE):
        parts = [[float(number) for number in part.split(",")] for part in re.split(r"\}\}, *\{\{", row)]
        trees.append(Tree([int(number) for number in parts[0]], parts[1], [int(number) for number in parts[2]]))
    return {"plain": trees[:TREES] + trees[2 * TREES:-TREES], "others": trees[TREES:2 * TREES], "integers": trees[-TREES:]}


def write(trees, path=TABLE):
    """Writes the trees of the first fit for plain matmuls, those for others, those of more fits for plain ones, and those
    for integers."""
    trees = trees["plain"][:TREES] + trees["others"] + trees["plain"][TREES:] + trees["integers"]
    def spell(numbers):
        return "{{" + ", ".join(f"{number:.5g}" for number in numbers) + "}}"
    rows = "".join(f"    {{{spell(tree.features)}, {spell(tree.thresholds)}, {spell(tree.leaves)}}},\n" for tree in trees)
    text = path.read_text()
    begin = text.index("= {\n") + len("= {\n")
    path.write_text(text[:begin] + rows + text[text.index("};", begin):])
