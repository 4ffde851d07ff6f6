# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model of schedules (lib/Scheduling/ScheduleModel.cpp) over arrays, and its fit to measured times.

The rates are those of lib/Target/NVIDIA/ScheduleRates.cpp, which `write_rates` changes."""

import pathlib
import re

import numpy as np

RATES = pathlib.Path(__file__).parent.parent / "lib/Target/NVIDIA/ScheduleRates.cpp"


#: The rates at which a fit begins: data sheets and guesses, before any measurement.
FIRST = {
    "start": 4000, "startOfSums": 2500,
    "products": [[1585, 3170], [3170, 6340], [1585, 6340], [800, 1585], [180, 180]],
    "shared": [150, 300], "loaded": [100, 125], "cache": 10000, "latency": [1200, 1200], "step": [30, 20],
    "tile": [1000, 1000], "stored": [60, 60], "exposed": 0.5, "memory": 3500, "processorMemory": 36, "sums": 3500,
    "clusterSums": 6, "clusterWait": 1000, "sharing": 1.03, "copyStart": 3000, "copied": 2500, "transposed": 700,
    "single": 1.2, "access": 0.05, "heldAccess": 0.2, "store": 0.05, "laneCopy": 4, "laneAccess": 10, "laneStore": 10,
    "gathered": 1.3, "splitLines": 2}


def read_rates(path=RATES):
    """The numbers of the chip, in order: {"latency": [a, b], "products": [[a, b], ...], "cache": a}."""
    text = re.sub(r"//.*", "", path.read_text())
    rates = {}
    for name, value in re.findall(r"rates\.(\w+) = ([^;(]*);", text):
        numbers = [float(number) for number in re.findall(r"[-\d.e+]+", value)]
        if name == "products":
            numbers = [numbers[i:i + 2] for i in range(0, len(numbers), 2)]
        rates[name] = numbers if "{" in value else numbers[0]
    return rates


def spell(number):
    return f"{number:.4g}" if number < 1000 else f"{number:.0f}"


def write_rates(rates, path=RATES):
    text = path.read_text()
    for name, value in rates.items():
        if name == "products":
            value = "{{" + ",\n                     ".join(f"{{{spell(a)}, {spell(b)}}}" for a, b in value) + "}}"
        elif isinstance(value, list):
            value = f"{{{spell(value[0])}, {spell(value[1])}}}"
        else:
            value = spell(value)
        text = re.sub(rf"rates\.{name} = [^;]*;", f"rates.{name} = {value};", text)
    path.write_text(text)


def flatten(rates):
    return np.log(np.concatenate([np.ravel(value) for value in rates.values()]))


def unflatten(vector, like):
    rates, at = {}, 0
    for name, value in like.items():
        shape = np.shape(value)
        count = int(np.prod(shape)) if shape else 1
        part = np.exp(vector[at:at + count])
        rates[name] = part.reshape(shape).tolist() if shape else float(part[0])
        at += count
    return rates


def norm(*limits):
    return sum(limit ** 4 for limit in limits) ** 0.25


def predict(work, rates):
    """The times of an array of schedules' work in nanoseconds. `work["memory"]` is the bandwidth of the memory of each
    one's device, as a share of that to which the rates were fitted."""
    kind = work["isGroup"].astype(int)
    rate = lambda name: np.asarray(rates[name])[kind]
    products = np.asarray(rates["products"])[work["rate"].astype(int), kind]
    loaded = work["loaded"] + (rates["splitLines"] - 1) * work["splits"]
    loaded = np.where(work["isGathered"] > 0, loaded * rates["gathered"], loaded)
    latency = rate("latency")

    waiting = latency / work["ahead"] + work["heldAccesses"] / work["threads"] * rates["laneAccess"]
    serial = work["isSerial"] > 0

    def step(together):
        share = np.minimum(1, together * work["threads"] / 128)
        limits = norm(together * work["products"] / (share * products), together * work["shared"] / rate("shared"),
                      together * loaded / rate("loaded"), together * work["singles"] * rates["single"],
                      np.minimum(work["units"], work["processors"] * together) * loaded / rates["cache"],
                      np.where(serial, 0, waiting),
                      np.maximum(together * rates["access"], rates["laneCopy"] / work["threads"]) * work["accesses"],
                      together * work["heldAccesses"] * rates["heldAccess"])
        return limits + np.where(serial, waiting, 0) + rate("step")

    def stores(together):
        return norm(together * work["stored"] / rate("stored"), together * work["stores"] * rates["store"],
                    work["stores"] / work["threads"] * rates["laneStore"])

    def turn(together):
        return rate("tile") + latency + work["steps"] * step(together) + stores(together)

    between = rate("tile") + stores(1)
    rounds = np.ceil(work["units"] / work["processors"])
    persistent = latency + between + rounds * work["steps"] * step(1) + (rounds - 1) * between * rates["exposed"]
    whole = work["processors"] * work["resident"]
    full = np.floor(work["units"] / whole)
    rest = work["units"] - full * whole
    plain = full * turn(work["resident"]) + np.where(rest > 0, turn(np.ceil(rest / work["processors"])), 0)
    all_ = np.where(work["isPersistent"] > 0, persistent, plain)
    busy = np.minimum(work["units"], work["processors"])
    memory = work["bytes"] / np.minimum(rates["memory"] * work["memory"], busy * rates["processorMemory"])
    time = rates["start"] + norm(all_, memory)
    cluster = rates["clusterWait"] + work["sumsOfTile"] / rates["clusterSums"]
    split = rates["startOfSums"] + 2 * work["parts"] * work["sums"] / rates["sums"]
    time = time + np.where(work["addsInCluster"] > 0, cluster, np.where(work["parts"] > 1, split, 0))
    time = np.where(work["isClustered"] > 0, time * rates["sharing"], time)
    copies = (work["copies"] * rates["copyStart"] + work["copiedBytes"] / rates["copied"]
              + work["transposedElements"] / rates["transposed"])
    return time + np.where(work["copies"] > 0, copies, 0)


def fit(work, times, weights, rates, steps=60, prior=0.1):
    """Rates by which the weighted logarithms of the times are nearest (Levenberg and Marquardt). Each costs `prior`
    times the logarithm of its change, so that what the data does not determine stays."""
    start = flatten(rates)
    x, damping = start.copy(), 1.0
    scale = np.sqrt(weights)

    def residuals(vector):
        apart = np.log(predict(work, unflatten(vector, rates))) - np.log(times)
        # Beyond 20 % the logarithm grows by its root only: a schedule that spills is not typical.
        apart = scale * np.sign(apart) * 0.2 * np.sqrt(2 * (np.sqrt(1 + (apart / 0.2) ** 2) - 1))
        return np.concatenate([apart, prior * (vector - start)])

    at = residuals(x)
    for _ in range(steps):
        slope = np.empty((len(at), len(x)))
        for i in range(len(x)):
            moved = x.copy()
            moved[i] += 1e-4
            slope[:, i] = (residuals(moved) - at) / 1e-4
        normal, gradient = slope.T @ slope, slope.T @ at
        while damping < 1e8:
            change = -np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-9), gradient)
            after = residuals(x + np.clip(change, -0.5, 0.5))
            if after @ after < at @ at:
                break
            damping *= 4
        else:
            break
        gain = at @ at - after @ after
        x, at, damping = x + np.clip(change, -0.5, 0.5), after, damping / 3
        if gain < 1e-7 * (at @ at):
            break
    return unflatten(x, rates)
