# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calibrates the model by which the compiler compares schedules of matmuls (lib/Scheduling/ScheduleModel.cpp).

    benchmarks/calibrate.py shapes            writes benchmarks/calibration/*.txt, from a seed
    benchmarks/calibrate.py shapes --seed=11 --folder=DIR --number bytes=80 half=40
                                              writes DIR/KIND.txt, with so many shapes of each kind from another seed
    benchmarks/calibrate.py pack A.jsonl...   adds what gpu-tune exported to benchmarks/calibration/h200.jsonl.xz
                                              (--database: another one, such as that of networks)
    benchmarks/calibrate.py fit               fits the rates of lib/Target/NVIDIA/ScheduleRates.cpp to them, and the
                                              trees of ScheduleCorrections.cpp to what these leave; prints how well
                                              trees that are fitted to four of five of the tasks choose for the others
    benchmarks/calibrate.py fit --trees       the latter, for the rates as they are (--of=plain, integers: other trees)
    benchmarks/calibrate.py report --database=benchmarks/calibration/h200-check.jsonl.xz
                                              prints how well the compiler as it is chooses for other shapes

fit and report build and run schedule-work-benchmark, and need numpy.
"""

import argparse
import json
import lzma
import math
import pathlib
import random
import re
import subprocess
import tempfile

from shapes import draw

ROOT = pathlib.Path(__file__).parent.parent
FOLDER = pathlib.Path(__file__).parent / "calibration"
DATABASE = (FOLDER / "h200.jsonl.xz").resolve()
#: Those to which the model is fitted: matmuls and convolutions alone, and the tasks of networks of f16.
DATABASES = (DATABASE, (FOLDER / "h200-networks.jsonl.xz").resolve())
#: The tasks of quantized networks, and the choices of a fit among all schedules, for shapes that it was not fitted to. To
#: these and all the others, trees of their own are fitted.
INTEGERS = tuple((FOLDER / f"h200-{name}.jsonl.xz").resolve() for name in ("int8", "choices"))

#: Shapes of published networks, and those of docs/benchmarks/h200-cliffs.md that were slow.
CHOSEN = {
    "half": ["4096x192x4096:f16", "4096x96x4096:f16", "4096x224x4096:f16", "5000x96x320:bf16", "3x4096x11008:bf16:NT",
             "16x4096x11008:bf16:NT", "1x4096x4096:f16", "64x7168x4096:bf16", "128x7168x2048:bf16", "512x512x512:f16",
             "1000x1000x1000:bf16", "1000x1000x1000:f16:TT", "640x640x640:bf16", "77x768x768:f16", "333x1000x2048:bf16",
             "64x64x65536:bf16", "256x256x32768:bf16", "96x96x100000:bf16", "192x80x1848:f16", "197x768x3072:f16:NT",
             "2048x1600x1600:f16", "1536x4608x1536:f16", "128x4096x4096:bf16:TT", "32x50257x768:bf16"],
    "bytes": ["128x4096x4096:i8", "16x4096x4096:i8", "32x4096x4096:i8", "16x4096x4096:i8:NT", "128x4096x4096:i8:NT",
              "1024x1024x1024:i8", "1000x1000x1000:i8", "128x4096x4096:f8E4M3FN", "16x4096x4096:f8E4M3FN:NT",
              "128x7168x2048:f8E4M3FN:NT", "1000x1000x1000:f8E4M3FN", "1024x1024x1024:f8E4M3FN:NT",
              "2048x2048x2048:i8:NT", "80x192x460:f8E4M3FN:NT"],
    "tf32": ["16x4096x4096:f32", "128x4096x4096:f32", "1024x1024x1024:f32", "2048x1024x8200:f32", "1000x1000x1000:f32"],
    "double": ["128x4096x4096:f64", "512x512x16384:f64", "1000x1000x1000:f64", "1024x1024x1024:f64"],
    "batched": ["batch:32x512x512x64:f16", "batch:192x197x197x64:f16:NT", "batch:192x197x64x197:f16",
                "batch:128x256x64x256:f16", "batch:16x512x512x512:f16", "batch:64x100x100x100:f16",
                "batch:512x128x128x128:f16", "batch:64x128x512x512:bf16:NT"],
    "convolutions": ["conv:32x56x56x64x64x3x3:f16", "conv:32x28x28x128x128x3x3:f16", "conv:32x14x14x256x256x3x3:f16",
                     "conv:32x7x7x512x512x3x3:f16", "conv:1x56x56x64x64x3x3:f16", "conv:1x28x28x128x128x3x3:f16",
                     "conv:1x14x14x256x256x3x3:f16", "conv:1x7x7x512x512x3x3:f16", "conv:16x28x28x30x50x3x3:f16",
                     "conv:32x28x28x96x160x3x3:f16"],
}
#: How many are drawn of each, and the types.
DRAWN = {"half": (60, ("f16", "bf16")), "bytes": (36, ("i8", "f8E4M3FN")), "tf32": (20, ("f32",)),
         "double": (14, ("f64",)), "batched": (18, ("f16", "bf16", "i8", "f8E4M3FN")), "convolutions": (14, ("f16", "bf16"))}
#: More that are drawn on request (--number): operands that do not fit into the L2 cache.
LARGE = {"large": ("f16", "bf16", "i8", "f8E4M3FN"), "large-tf32": ("f32",)}
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i8": 1, "f8E4M3FN": 1}
#: About a millisecond at most, and little memory.
MOST_OPERATIONS = {"f64": 8e9, "f32": 4e10, "f16": 1.5e11, "bf16": 1.5e11, "i8": 1.5e11, "f8E4M3FN": 1.5e11}
LEAST_OPERATIONS, MOST_BYTES = 2e7, 48 << 20
#: Those of `LARGE` take about 150 us at most, beyond which the model does not choose.
MOST_OPERATIONS_OF_LARGE, MOST_BYTES_OF_LARGE = 0.5, 256 << 20


def draw_matmul(generator, kind, types):
    """Small M, long K, and all else, by turns."""
    m, n, k = draw(generator, 16, 6000), draw(generator, 16, 6000), draw(generator, 32, 6000)
    form = generator.randrange(4)
    if form == 0:
        m = generator.choice((1, 2, 4, 7, 8, 16, 24, 32, 48, 64, 100, 128))
        n, k = draw(generator, 1000, 12000), draw(generator, 1000, 12000)
    elif form == 1:
        m, n, k = draw(generator, 16, 512), draw(generator, 16, 512), draw(generator, 4000, 60000)
    return 1, m, n, k


def draw_batch(generator, kind, types):
    return draw(generator, 2, 300), *(draw(generator, 16, 512) for _ in range(3))


def draw_large(generator, kind, types):
    """Few rows with large weights in two of three shapes."""
    if generator.randrange(3) == 2:
        return 1, *(draw(generator, 256, 12000) for _ in range(3))
    return 1, generator.choice((1, 4, 8, 16, 32, 48, 64, 100, 128, 256)), draw(generator, 700, 60000), draw(generator, 700, 20000)


def draw_shape(generator, kind, types):
    type = generator.choice(types)
    layout = generator.choice(("NN", "NN", "NT", "TN", "TT"))
    if kind == "convolutions":
        window, size = generator.choice((1, 3, 3, 5)), generator.randint(7, 56)
        batch, channels, filters = generator.choice((1, 2, 8, 32)), draw(generator, 16, 512), draw(generator, 16, 512)
        operations = 2 * batch * size * size * channels * filters * window * window
        count = batch * size * size * (channels + filters) + channels * filters * window * window
        text = f"conv:{batch}x{size}x{size}x{channels}x{filters}x{window}x{window}:{type}"
    else:
        drawing = draw_batch if kind == "batched" else draw_large if kind in LARGE else draw_matmul
        batch, m, n, k = drawing(generator, kind, types)
        operations, count = 2 * batch * m * n * k, batch * (m * k + k * n)
        count += batch * m * n * (4 if type == "i8" else 2 if BYTES[type] == 1 else BYTES[type]) / BYTES[type]
        text = (f"batch:{batch}x" if kind == "batched" else "") + f"{m}x{n}x{k}:{type}"
        text += f":{layout}" if layout != "NN" else ""
    most, least_bytes, most_bytes = MOST_OPERATIONS[type], 0, MOST_BYTES
    if kind in LARGE:
        most, least_bytes, most_bytes = most * MOST_OPERATIONS_OF_LARGE, MOST_BYTES, MOST_BYTES_OF_LARGE
    fits = LEAST_OPERATIONS <= operations <= most and least_bytes <= count * BYTES[type] <= most_bytes
    return text if fits else None


def write_shapes(seed, folder, numbers):
    """Chosen and drawn shapes; or only drawn ones, so many of each kind, if there are `numbers` (KIND=N)."""
    folder.mkdir(exist_ok=True, parents=True)
    command = f"shapes --seed={seed}" + (f" --number {' '.join(numbers)}" if numbers else "")
    counts = dict(one.split("=") for one in numbers) if numbers else {kind: drawn[0] for kind, drawn in DRAWN.items()}
    for kind, count in counts.items():
        generator = random.Random(f"{seed} {kind}")
        chosen = [] if numbers else CHOSEN[kind]
        texts = dict.fromkeys(chosen)
        while len(texts) < len(chosen) + int(count):
            if text := draw_shape(generator, kind, LARGE.get(kind) or DRAWN[kind][1]):
                texts[text] = None
        lines = list(texts)
        generator.shuffle(lines)
        (folder / f"{kind}.txt").write_text("# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
                                            f"# Written by benchmarks/calibrate.py {command}.\n"
                                            + "".join(f"{line}\n" for line in lines))


def pack(paths, database):
    """Adds the lines of exports to the database, each record once, without the time of each run."""
    lines = lzma.open(database, "rt").read().splitlines() if database.exists() else []
    for path in paths:
        opener = __import__("gzip").open if path.endswith(".gz") else open
        for line in opener(path, "rt"):
            value = json.loads(line)
            if value.get("kind") == "record":
                # Runs have other numbers here.
                value.update(times=[], run=0)
                for name in ("median", "low", "high", "compile_ms", "expected_ms"):
                    value[name] = float(f"{value[name]:.4g}")
            elif value.get("kind") != "task" and lines:
                continue
            elif value.get("kind") == "run":
                continue
            lines.append(json.dumps(value, separators=(",", ":")))
    with lzma.open(database, "wt", preset=9) as file:
        file.write("".join(f"{line}\n" for line in dict.fromkeys(lines)))


#: The types of MatmulRate, in its order.
RATES = ("f16, bf16", "i8", "f8", "tf32", "f64")
BYTES_OF_RATES = (2, 1, 1, 4, 8)


def get_kind(task):
    work = task["records"][0]["work"]
    words = task["description"].split()
    features = dict(zip(task["features"], task["records"][0]["features"]))
    more = ", images" if work["isGathered"] else ", batched" if words[0].isdigit() and words[1] == "of" else ""
    more += ", with producers" if features["producerOpsLhs"] + features["producerOpsRhs"] else ""
    more += ", with operands of the epilogue" if features["extras"] else ""
    return RATES[int(work["rate"])] + more


def get_median(records):
    """The median of the records' times in nanoseconds."""
    times = sorted(record["time"] for record in records)
    return 1e6 * times[len(times) // 2]


def is_outdated(features, record):
    """Whether the kernel of such a schedule has changed since it was measured. Subgroups load bytes that are stored with
    N along the rows by ldmatrix since the 28th, two columns at a time, and rows of 8-byte elements and of an odd number
    of panels of 64 bytes are swizzled in other ways."""
    values, when = dict(zip(features, record["features"])), record["when"]
    rate, sizes = int(values["rate"]), [round(2 ** values[name]) for name in ("workgroupM", "workgroupN")]
    if when < "2026-11-28T15:40" and not values["isGroup"]:
        if BYTES_OF_RATES[rate] == 1 and values["acrossRhs"] and round(2 ** values["subgroupN"]) % 16 == 0:
            return True
        if BYTES_OF_RATES[rate] == 8 and values["swizzle"]:
            return True
    rows = [size * BYTES_OF_RATES[rate] for size, side in zip(sizes, ("acrossLhs", "acrossRhs")) if values[side]]
    return (when < "2026-11-29T00:56" and bool(values["swizzle"])
            and any(row % 64 == 0 and row & (row - 1) for row in rows))


def read_tasks(tool, databases):
    """The tasks of the databases with their measured records: each schedule once, with its median over the runs. `again`
    is its time in a final comparison, or None; `time` is without these, where there are others."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for database in databases:
            file.write(lzma.open(database, "rt").read())
        file.flush()
        tasks = json.loads(subprocess.run([tool, file.name], capture_output=True, text=True, check=True).stdout)
    kept = []
    for task in sorted(tasks, key=lambda task: task["key"]):
        merged = {}
        for record in task["records"]:
            if (record["outcome"] in ("measured", "slow") and record["time"] > 0
                    and not is_outdated(task["features"], record)):
                merged.setdefault(record["schedule"], []).append(record)
        task["spilling"] = list({record["schedule"]: record for record in task["records"]
                                 if record["outcome"] == "spills"}.values())
        task["records"] = []
        for records in merged.values():
            again = [record for record in records if record["final"]]
            first = [record for record in records if not record["final"]]
            task["records"].append(dict(records[0], time=get_median(first or again),
                                        again=get_median(again) if again else None,
                                        own=any(record["own"] for record in records)))
        if len(task["records"]) < 3:
            continue
        task["kind"] = get_kind(task)
        kept.append(task)
    return kept


def get_arrays(records):
    import numpy as np
    return {name: np.array([float(record["work"][name]) for record in records]) for name in records[0]["work"]}


def is_candidate(record):
    """Whether the compiler compares such a schedule (RankSchedules.cpp)."""
    work = record["work"]
    if RATES[int(work["rate"])] == "f64" and " k = 16," not in record["schedule"]:
        rows, columns = map(int, re.search(r"subgroup = \[(\d+), (\d+)\]", record["schedule"]).groups())
        if rows * columns > 256 or "swizzle = true" not in record["schedule"]:
            return False
    return work["accesses"] <= 24 * work["threads"] and work["heldAccesses"] <= 16 * work["threads"]


def judge(tasks, estimates, margins):
    """For each task: its kind, the time by rules and the time of the choice, as multiples of the best. `estimates` are
    those of all records, in their order; `margins` has one for each rate, or 0 for the choice by rules."""
    rows, begin = [], 0
    for task in tasks:
        records = task["records"]
        times = estimates[begin:begin + len(records)]
        begin += len(records)
        rules = next((i for i, record in enumerate(records) if record["byRules"]), None)
        if rules is None:
            continue
        allowed = [i for i, record in enumerate(records) if is_candidate(record) or i == rules]
        choice = min(allowed, key=lambda i: times[i])
        margin = margins[int(records[0]["work"]["rate"])]
        if margin == 0 or times[rules] <= margin * times[choice]:
            choice = rules
        best = min(record["time"] for record in records)
        rows.append((task["kind"], records[rules]["time"] / best, records[choice]["time"] / best, task["description"]))
    return rows


def print_table(rows):
    print("| kind | tasks | by rules | worst | above 1.2 | by the model | worst | above 1.2 |\n|" + "---|" * 8)
    for kind in sorted({row[0] for row in rows}) + ["all"]:
        some = [row for row in rows if kind in (row[0], "all")]
        cells = [kind, str(len(some))]
        for column in (1, 2):
            values = [row[column] for row in some]
            mean = math.exp(sum(map(math.log, values)) / len(values))
            cells += [f"{mean:.3f}", f"{max(values):.2f}", str(sum(value > 1.2 for value in values))]
        print("| " + " | ".join(cells) + " |")


def compare_again(tasks):
    """Prints how the compiler's choices did by times that chose nothing: those of the final comparison, whose
    candidates took turns. The first times, of which the fastest is the fastest of 15 noisy ones, chose the others."""
    rows, moved = [], []
    for task in tasks:
        again = [record for record in task["records"] if record["again"]]
        choices = [record for record in again if record["isChoice"]]
        if not choices or len(again) < 2:
            continue
        choice, fastest = choices[0], min(again, key=lambda record: record["time"])
        rows.append((task["kind"], choice["time"] / min(record["time"] for record in task["records"]),
                     choice["again"] / min(record["again"] for record in again), choice["again"] / fastest["again"]))
        mean = sum(math.log(record["again"] / record["time"]) for record in again) / len(again)
        moved += [(math.log(record["again"] / record["time"]) - mean) ** 2 * len(again) / (len(again) - 1)
                  for record in again]
    if not rows:
        return
    print(f"\n{len(rows)} choices were measured again, beside the fastest schedules by the first times. In one task, "
          f"both times of a schedule differ by {math.sqrt(sum(moved) / len(moved)):.3f} (root of the mean square of "
          "logarithms). First times; second times, by the fastest of these; and by the schedule with the fastest first "
          "time:\n")
    print("| kind | tasks | first | worst | above 1.2 | second | worst | above 1.2 | by the first choice |\n|" + "---|" * 9)
    for kind in sorted({row[0] for row in rows}) + ["all"]:
        some = [row for row in rows if kind in (row[0], "all")]
        means = [math.exp(sum(math.log(row[column]) for row in some) / len(some)) for column in (1, 2, 3)]
        cells = [kind, str(len(some))]
        for column in (1, 2):
            values = [row[column] for row in some]
            cells += [f"{means[column - 1]:.3f}", f"{max(values):.2f}", str(sum(value > 1.2 for value in values))]
        print("| " + " | ".join(cells + [f"{means[2]:.3f}"]) + " |")


def build(tool):
    """Builds the tool, if it is in a folder of builds."""
    folder = pathlib.Path(tool).parent.parent
    if (folder / "build.ninja").exists():
        subprocess.run(["ninja", "-C", folder, pathlib.Path(tool).name], check=True, stdout=subprocess.DEVNULL)


def list_records(tasks):
    return [record for task in tasks for record in task["records"]]


def get_weights(tasks):
    """1 for the fastest schedule of a task, and less for slower ones: it is those that a choice is among."""
    return [min(other["time"] for other in task["records"]) / record["time"] for task in tasks
            for record in task["records"]]


def fit_rates(tool, databases):
    import numpy as np
    import schedule_fit
    tasks = read_tasks(tool, databases)
    records, weights = list_records(tasks), get_weights(tasks)
    chosen = [i for i, record in enumerate(records) if is_candidate(record)]
    work = get_arrays([records[i] for i in chosen])
    times = np.array([records[i]["time"] for i in chosen])
    rates = schedule_fit.FIRST
    for _ in range(4):
        rates = schedule_fit.fit(work, times, np.array(weights)[chosen], rates)
    schedule_fit.write_rates(rates)


def check_rates(tool, tasks):
    """schedule_fit.py and schedule_trees.py are what the compiler does."""
    import numpy as np
    import schedule_fit
    import schedule_trees
    records = list_records(tasks)
    rates = schedule_fit.read_rates()
    for name in ("margins", "longest", "memoryOfSheet"):
        rates.pop(name, None)
    of_rates = np.array([record["estimate"] for record in records])
    apart = np.abs(schedule_fit.predict(get_arrays(records), rates) / of_rates - 1).max()
    trees = schedule_trees.read()
    factors = np.exp(np.concatenate([schedule_trees.predict(trees[get_trees(task)], get_features(task["records"]))
                                     for task in tasks]))
    apart = max(apart, np.abs(of_rates * factors / np.array([record["corrected"] for record in records]) - 1).max())
    if apart > 1e-6:
        raise SystemExit(f"{tool} differs from the model in Python by {apart:.2g}: build it anew")


def is_plain(task):
    """Whether it is a matmul without images, producers and operands of the epilogue (ScheduledMatmul::isPlain)."""
    features = dict(zip(task["features"], task["records"][0]["features"]))
    return not any(features[name] for name in ("isGathered", "extras", "producerOpsLhs", "producerOpsRhs"))


def get_trees(task):
    """The name of the trees for the task (CorrectionTrees)."""
    features = dict(zip(task["features"], task["records"][0]["features"]))
    return "plain" if is_plain(task) else "integers" if RATES[int(features["rate"])] == "i8" else "others"


def get_features(records):
    import numpy as np
    return np.array([record["features"] for record in records])


#: Schedules that keep registers in memory are not measured. Trees are fitted as if these took 4.5 times the estimate
#: (the natural logarithm), with this weight, so that they are not chosen for a time that ignores the spills.
SPILLING, SPILLING_WEIGHT = 1.5, 0.5


def fit_trees(tasks, seeds):
    """Trees for the records of tasks: those of all seeds, whose mean is the correction."""
    import numpy as np
    import schedule_trees
    records, weights = list_records(tasks), np.array(get_weights(tasks))
    chosen = [i for i, record in enumerate(records) if is_candidate(record)]
    numbers = [i for i, task in enumerate(tasks) for _ in task["records"]]
    spills = [(i, record) for i, task in enumerate(tasks) for record in task["spilling"] if is_candidate(record)]
    spilling = [record for _, record in spills]
    of_task = np.array([numbers[i] for i in chosen] + [i for i, _ in spills])
    estimates = np.log([records[i]["estimate"] for i in chosen] + [record["estimate"] for record in spilling])
    errors = np.log([records[i]["time"] / records[i]["estimate"] for i in chosen] + [SPILLING] * len(spilling))
    features = get_features([records[i] for i in chosen] + spilling)
    weights = np.concatenate([weights[chosen], np.full(len(spilling), SPILLING_WEIGHT)])
    trees = []
    for seed in seeds:
        trees += schedule_trees.fit(features, errors, weights, of_task, estimates, schedule_trees.Options(seed=seed))
    return trees


def estimate_apart(tasks, seeds, count):
    """The estimates for all records by trees that were fitted without their tasks."""
    import numpy as np
    import schedule_trees
    generator = random.Random(1)
    folds = [generator.randrange(count) for _ in tasks]
    times = {}
    for fold in range(count):
        trees = fit_trees([task for task, its in zip(tasks, folds) if its != fold], seeds)
        for i, task in enumerate(tasks):
            if folds[i] == fold:
                times[i] = (np.array([record["estimate"] for record in task["records"]])
                            * np.exp(schedule_trees.predict(trees, get_features(task["records"]))))
    return np.concatenate([times[i] for i in range(len(tasks))])


def compare_choices(tasks):
    """Prints how the compiler's choices among all schedules did, where they were measured."""
    changed, ratios, of_best = 0, [], []
    for task in tasks:
        times = [[record["time"] for record in task["records"] if record[name]] for name in ("isChoice", "byRules")]
        changed += task["isChanged"]
        if task["isChanged"] and all(times):
            ratios.append(times[0][0] / times[1][0])
        if times[0]:
            of_best.append((task["kind"], times[1][0] / min(record["time"] for record in task["records"])
                            if times[1] else 1, times[0][0] / min(record["time"] for record in task["records"])))
    print(f"\nThe compiler's choice among all schedules is another one than by rules for {changed} tasks. Both were "
          f"measured for {len(ratios)}"
          + (f": {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f} of the time, from {min(ratios):.2f} to "
             f"{max(ratios):.2f}." if ratios else "."))
    if of_best:
        print("\nThe compiler's choices that were measured:\n")
        print_table(of_best)


def calibrate(arguments):
    import schedule_fit
    import schedule_trees
    build(arguments.tool)
    margins = [arguments.margin] * len(RATES) if arguments.margin else schedule_fit.read_rates()["margins"]
    if arguments.command == "fit":
        if not arguments.trees:
            fit_rates(arguments.tool, DATABASES)
            build(arguments.tool)
        name = arguments.trees_of
        tasks = read_tasks(arguments.tool, {"plain": DATABASES[:1], "others": DATABASES,
                                            "integers": DATABASES + INTEGERS}[name])
        # The trees for plain matmuls have a fit for each seed.
        seeds = arguments.seeds if name == "plain" else arguments.seeds[:1]
        print(f"{len(tasks)} tasks, {len(list_records(tasks))} schedules with times; by trees that were fitted without "
              "a part of the tasks, for these:\n")
        if arguments.folds:
            print_table(judge(tasks, estimate_apart(tasks, seeds, arguments.folds), margins))
        if name == "plain":
            tasks = [task for task in tasks if is_plain(task)]
        schedule_trees.write(dict(schedule_trees.read(), **{name: fit_trees(tasks, seeds)}))
        return
    tasks = read_tasks(arguments.tool, [arguments.database.resolve()])
    records = list_records(tasks)
    check_rates(arguments.tool, tasks)
    print(f"{len(tasks)} tasks, {len(records)} schedules with times\n")
    print_table(judge(tasks, [record["corrected"] for record in records], margins))
    compare_choices(tasks)
    compare_again(tasks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    shapes = commands.add_parser("shapes")
    shapes.add_argument("--seed", type=int, default=1)
    shapes.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    shapes.add_argument("--number", nargs="+", default=[], metavar="KIND=N", help="shapes of each kind, all drawn")
    packs = commands.add_parser("pack")
    packs.add_argument("exports", nargs="+")
    for name in ("fit", "report"):
        command = commands.add_parser(name)
        command.add_argument("--margin", type=float, help="instead of those of the rates")
        command.add_argument("--tool", default=str(ROOT / "build/dev/bin/schedule-work-benchmark"))
    commands.choices["fit"].add_argument("--trees", action="store_true")
    commands.choices["fit"].add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3],
                                         help="a fit for each of plain matmuls; the first is that of other contractions")
    commands.choices["fit"].add_argument("--of", dest="trees_of", choices=("others", "plain", "integers"), default="others",
                                         help="the contractions whose trees are fitted: those that are not plain matmuls; "
                                              "plain matmuls; or the former of i8")
    commands.choices["fit"].add_argument("--folds", type=int, default=5, help="of the cross-validation; 0: none")
    for command in (packs, commands.choices["report"]):
        command.add_argument("--database", type=pathlib.Path, default=DATABASE)
    arguments = parser.parse_args()
    if arguments.command == "shapes":
        write_shapes(arguments.seed, arguments.folder, arguments.number)
    elif arguments.command == "pack":
        pack(arguments.exports, arguments.database)
    else:
        calibrate(arguments)


if __name__ == "__main__":
    main()
