"""GPU-TUNE SCENARIO: runs of which other hosts have a part, all of them on this machine."""
import json
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time

program, scenario = sys.argv[1:]
join_file, database, log = "join.txt", scenario + ".db", scenario + ".log"
for name in (join_file, database, log):
    if os.path.exists(name):
        os.remove(name)


def wait_for(condition, what, seconds=60):
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, what + " did not come in time:\n" + read_log()
        time.sleep(0.05)


def read_log():
    with open(log) as file:
        return file.read()


def start_run(*options):
    """A run that by itself neither compiles nor measures; its output goes to the log."""
    command = [program, "run", "64x64x64:f32", "--target=cpu", "--jobs=0", "--devices=none", "--leaders=2"]
    command += ["--listen=127.0.0.1", "--join-file=" + join_file, "--db=" + database, *options]
    with open(log, "w") as file:
        run = subprocess.Popen(command, stdout=file, stderr=file)
    wait_for(lambda: os.path.exists(join_file) and open(join_file).read().count("\n") == 2, "the file")
    return run


def start_agent(*options):
    command = [program, "join", "--join-file=" + join_file, "--measurers=1", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process, status=0):
    output, _ = process.communicate(timeout=120)
    assert process.returncode == status, (process.returncode, output, read_log())
    return output


def read_records():
    connection = sqlite3.connect(database)
    return connection.execute(
        "SELECT schedule, outcome, error, final, median, host, device FROM records "
        "JOIN environments ON records.environment = environments.number"
    ).fetchall()


def check_complete(trials):
    """Each candidate has one record, with a time, and there was a final comparison."""
    records = read_records()
    search = [record for record in records if not record[3]]
    schedules = [record[0] for record in search]
    assert len(search) == trials + 1 and len(set(schedules)) == len(schedules), schedules
    for schedule, outcome, error, _, median, host, device in records:
        assert outcome in ("measured", "slow"), (schedule, outcome, error)
        assert median > 0 and host == socket.gethostname() and device, (schedule, median, host, device)
    assert len(records) - len(search) >= 2, records
    assert re.search(rf"^{trials + 1} candidates, {trials + 1} compiled, {trials + 1} measured, 0 failed", read_log(), re.M)


def children_of(parent, word):
    """Worker processes of an agent whose arguments have the word."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                owner = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{name}/cmdline") as file:
                arguments = file.read().split("\0")
        except OSError:
            continue
        if owner == parent and "worker" in arguments and word in arguments:
            found.append(int(name))
    return found


def count_measured():
    try:
        return len(read_records())
    except sqlite3.OperationalError:
        return 0


def two_agents():
    """One compiles, the other measures."""
    run = start_run("--trials=12")
    agents = [start_agent("--jobs=1", "--devices=none"), start_agent("--jobs=0")]
    finish(run)
    for agent in agents:
        assert "joined the run at 127.0.0.1:" in finish(agent)
    check_complete(12)
    text = read_log()
    assert text.count("has joined: 1 process that compiles, 0 devices") == 1, text
    assert text.count("has joined: 0 processes that compile, 1 device\n") == 1, text
    assert "is gone" not in text, text


def killed_agent():
    """What one that is killed had in hand is compiled, and measured, by the other one."""
    run = start_run("--trials=40")
    first = start_agent("--jobs=1")
    wait_for(lambda: count_measured() >= 3, "records")
    second = start_agent("--jobs=1")
    wait_for(lambda: read_log().count("has joined") == 2, "the second one")
    # So that it has something in hand for certain.
    stopped = children_of(first.pid, "compile")
    assert len(stopped) == 1, stopped
    os.kill(stopped[0], signal.SIGSTOP)
    time.sleep(1)
    first.kill()
    finish(first, -signal.SIGKILL)
    finish(run)
    finish(second)
    check_complete(40)
    text = read_log()
    assert "is measured on by another process of that machine" in text, text
    gone = re.search(r"is gone \(its connection ended\): (\d+) candidates? that it had in hand", text)
    assert gone and int(gone[1]) >= 1, text


def killed_worker():
    """One that dies by itself takes its candidate with it, as on the run's own host."""
    run = start_run("--trials=12", "--test-fault=crash:k = 64,")
    agent = start_agent("--jobs=1")
    finish(run)
    finish(agent)
    crashed = [record for record in read_records() if record[1] == "crashed"]
    assert crashed, read_records()
    for schedule, _, error, *_ in crashed:
        assert "k = 64," in schedule and "the process that ran it died: signal 6" in error, (schedule, error)
    assert "is gone" not in read_log(), read_log()


def hung_worker():
    """One that hangs on another host is ended there, and the next candidate is tried."""
    run = start_run("--trials=6", "--timeout=2", "--test-fault=hang:k = 64,")
    agent = start_agent("--jobs=1")
    finish(run)
    finish(agent)
    outcomes = {record[1]: record[2] for record in read_records()}
    assert outcomes["hung"] == "no end after 2 s" or "no end after 2" in outcomes["hung"], outcomes
    assert "measured" in outcomes, outcomes


def hello(address, head, raw=None):
    """What a run answers to such a greeting; None if it hangs up."""
    with socket.create_connection(address, timeout=20) as connection:
        if raw is None:
            text = json.dumps(head).encode()
            raw = struct.pack("=QQ", len(text), 0) + text
        try:
            connection.sendall(raw)
            data = b""
            while part := connection.recv(4096):
                data += part
        except ConnectionError:
            return None
    return json.loads(data[16:]) if data else None


def refused():
    """Callers that are none of the run's are told why, and the run goes on."""
    run = start_run("--trials=3")
    places, token = open(join_file).read().split()
    assert re.fullmatch(r"[0-9a-f]{32}", token), token
    assert os.stat(join_file).st_mode & 0o77 == 0
    host, port = places.split(":")
    address = (host, int(port))
    command = [program, "join", places, "--token=" + "0" * 32, "--jobs=1"]
    wrong = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 1, wrong
    assert f"error: the run at {places} refuses this host: its token is not this run's" in wrong.stderr, wrong.stderr
    greeting = {"op": "hello", "kind": "agent", "protocol": 1, "token": token, "build": "another"}
    answer = hello(address, greeting)
    assert answer["op"] == "refused" and "it is another build of gpu-tune (another, and the run is" in answer["error"], answer
    answer = hello(address, {**greeting, "protocol": 99})
    assert "another version of the protocol" in answer["error"], answer
    # What is no message at all, and what would be one without an end.
    assert hello(address, None, struct.pack("=QQ", 1 << 40, 1) + b"x" * 8) is None
    assert hello(address, None, struct.pack("=QQ", 1 << 20, 1) + b"x" * (1 << 20)) is None
    agent = start_agent("--jobs=1")
    finish(run)
    finish(agent)
    check_complete(3)
    text = read_log()
    assert "a caller from 127.0.0.1 was refused: its token is not this run's" in text, text
    assert "was refused: it is another build of gpu-tune" in text, text


def nobody_measures():
    """A run ends with its budget where no host comes that measures, and says so; the host says why it does not."""
    run = start_run("--target=cuda:sm_80", "--budget=3s")
    agent = start_agent("--jobs=1", "--devices=1000")
    finish(run, 77)
    assert "no device cuda:1000 is here" in finish(agent)
    text = read_log()
    assert re.search(r"note: host \S+: no device cuda:1000 is here", text), text
    assert "nothing was measured: --devices=none, and no host that measures has joined" in text, text
    assert read_records() == [], read_records()


def left_alone():
    """An agent whose run is killed says so, and its workers end with it."""
    run = start_run("--trials=1000")
    agent = start_agent("--jobs=1")
    wait_for(lambda: count_measured() >= 2, "records")
    workers = children_of(agent.pid, "worker")
    assert len(workers) == 2, workers
    run.kill()
    run.wait()
    assert "is gone before its end" in finish(agent, 1)
    wait_for(lambda: not any(os.path.exists(f"/proc/{worker}") for worker in workers), "their end", 10)


globals()[scenario]()
print(scenario + ": passed")
