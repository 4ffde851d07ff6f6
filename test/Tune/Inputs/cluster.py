# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPU-TUNE SCENARIO: runs of which other hosts have a part, all of them on this machine."""
import atexit
import json
import os
import re
import resource
import signal
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import time

program, scenario = sys.argv[1:]
join_file, database, log = "join.txt", scenario + ".db", scenario + ".log"
for name in (join_file, database, log):
    if os.path.exists(name):
        os.remove(name)


def wait_for(condition, what, seconds=600):
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, what + " did not come in time:\n" + read_log()
        time.sleep(0.05)


def read_log():
    with open(log) as file:
        return file.read()


def start_run(*options, environment=None):
    """A run that by itself neither compiles nor measures; its output goes to the log."""
    command = [program, "run", "64x64x64:f32", "--target=cpu", "--jobs=0", "--devices=none", "--leaders=2"]
    command += ["--listen=127.0.0.1", "--join-file=" + join_file, "--db=" + database, *options]
    if not any(option.startswith("--timeout=") for option in options):
        command.append("--timeout=600")
    with open(log, "w") as file:
        run = subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, **(environment or {})})
    atexit.register(run.kill)
    wait_for(lambda: os.path.exists(join_file) and open(join_file).read().count("\n") == 2, "the file")
    return run


def start_agent(*options):
    command = [program, "join", "--join-file=" + join_file, "--measurers=1", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process, status=0):
    output, _ = process.communicate(timeout=1200)
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
    # The final comparison leaves out candidates of more than twice the best time.
    measured = sum(record[1] == "measured" for record in search)
    assert len(records) - len(search) >= min(2, measured) >= 1, records
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
    assert text.count("has joined: 1 compile worker, 0 devices") == 1, text
    assert text.count("has joined: 0 compile workers, 1 device\n") == 1, text
    assert "disconnected" not in text, text


def killed_agent():
    """The other agent compiles and measures the candidates of one that is killed."""
    run = start_run("--trials=60")
    first = start_agent("--jobs=1")
    wait_for(lambda: count_measured() >= 3, "records")
    second = start_agent("--jobs=1")
    wait_for(lambda: read_log().count("has joined") == 2, "the second one")
    # Candidates are given to the first one first, so that it has one in hand once others have gone on.
    before = count_measured()
    stopped = children_of(first.pid, "compile")
    assert len(stopped) == 1, stopped
    os.kill(stopped[0], signal.SIGSTOP)
    wait_for(lambda: count_measured() >= before + 6, "records of the others")
    first.kill()
    finish(first, -signal.SIGKILL)
    finish(run)
    finish(second)
    check_complete(60)
    text = read_log()
    assert "is already used by another process of that machine" in text, text
    gone = re.search(r"disconnected \(its connection ended\): (\d+) of its candidates (?:is|are) retried", text)
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
        assert "k = 64," in schedule and "the worker process died: signal 6" in error, (schedule, error)
    assert "disconnected" not in read_log(), read_log()


def hung_worker():
    """One that hangs on another host is ended there, and the next candidate is tried."""
    # On a busy machine others do not end in time either: then with a larger limit.
    for seconds in (5, 50, 500):
        for name in (join_file, database):
            if os.path.exists(name):
                os.remove(name)
        run = start_run("--trials=6", f"--timeout={seconds}", "--test-fault=hang:k = 64,")
        agent = start_agent("--jobs=1")
        run.wait()
        finish(agent)
        if all("k = 64," in record[0] for record in read_records() if record[1] == "hung"):
            break
    assert run.returncode == 0, read_log()
    outcomes = {record[1]: record[2] for record in read_records()}
    assert f"did not end within {seconds}" in outcomes["hung"], outcomes
    assert "measured" in outcomes, outcomes


def plain(address, raw):
    """The bytes that a run sends to a caller without TLS until it hangs up."""
    data = b""
    with socket.create_connection(address, timeout=600) as connection:
        try:
            connection.sendall(raw)
            while part := connection.recv(4096):
                data += part
        except ConnectionError:
            pass
    return data


def encode(head):
    text = json.dumps(head).encode() if isinstance(head, dict) else head
    return struct.pack("=QQ", len(text), 0) + text


def read_address():
    """Where the run listens, and its key."""
    endpoints, key = open(join_file).read().split()
    host, port = endpoints.split(":")
    return (host, int(port)), key


def join(endpoint, key, **environment):
    """An agent that has the key from the environment."""
    command = [program, "join", endpoint, "--jobs=1", "--measurers=1"]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600, env={**os.environ, "TESSERA_TUNE_KEY": key, **environment}
    )


def refused():
    """Callers without the key get nothing from the run, which parses nothing of theirs and goes on."""
    run = start_run("--trials=3")
    address, key = read_address()
    endpoint = "%s:%d" % address
    assert re.fullmatch(r"[0-9a-f]{64}", key), key
    assert os.stat(join_file).st_mode & 0o77 == 0
    wrong = join(endpoint, "0123456789abcdef" * 4)
    assert wrong.returncode == 1, wrong
    assert f"error: the peer at {endpoint} has a different key (--key-file, TESSERA_TUNE_KEY)" in wrong.stderr, wrong.stderr
    # Input that would overflow the stack of a recursive parser, endless input, and a message of an
    # older version.
    for raw in (
        encode(b"[" * 60_000),
        struct.pack("=QQ", 1 << 40, 1) + b"x" * 8,
        struct.pack("=QQ", 1 << 20, 1) + b"x" * (1 << 20),
        encode({"op": "hello", "kind": "agent", "protocol": 1, "token": key, "build": "another"}),
    ):
        answer = plain(address, raw)
        assert b"{" not in answer and len(answer) < 32, answer
    assert run.poll() is None, read_log()
    # The key is in no command line, and not in the output either.
    with open(f"/proc/{run.pid}/cmdline") as file:
        assert key not in file.read()
    agent = start_agent("--jobs=1")
    finish(run)
    finish(agent)
    check_complete(3)
    text = read_log()
    assert "a connection from 127.0.0.1 was rejected: its key is not the key of this run" in text, text
    assert key not in text, text


def own_key():
    """A key of the user's, from a file on one side and from the environment on the other."""
    key = "a key that is long enough, 0123456789 and more"
    with open("key.txt", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(key + "\n")
    run = start_run("--trials=2", "--key-file=key.txt")
    address, written = open(join_file).read().split("\n")[:2]
    assert written == key, written
    agent = join(address, key)
    assert agent.returncode == 0, agent
    finish(run)
    check_complete(2)


def idle():
    """Silent connections do not block other callers, and do not make the run spin."""
    run = start_run("--trials=3")
    address, _ = read_address()
    callers = [socket.create_connection(address, timeout=600) for _ in range(256)]
    wait_for(lambda: "too many unauthenticated connections" in read_log(), "the report")
    # All but the 16 newest ones are hung up on.
    closed = 0
    for caller in callers[:-16]:
        caller.settimeout(60)
        try:
            closed += caller.recv(1) == b""
        except ConnectionError:
            closed += 1
    assert closed == 240, closed
    agent = start_agent("--jobs=1")
    finish(agent)
    finish(run)
    check_complete(3)
    for caller in callers:
        caller.close()


def crowd():
    """Hosts of many addresses may call at a time, and more than the usual limit of open files."""
    own, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, most))
    run = start_run("--trials=2")
    resource.setrlimit(resource.RLIMIT_NOFILE, (own, most))
    address, _ = read_address()
    callers = [socket.create_connection(address, timeout=600, source_address=(f"127.0.1.{i + 1}", 0)) for i in range(120)]
    # The run has accepted them when it answers a later one.
    plain(address, b"x" * 64)
    closed = []
    for i, caller in enumerate(callers):
        caller.setblocking(False)
        try:
            closed += [i] if caller.recv(1) == b"" else []
        except BlockingIOError:
            pass
    assert not closed, (closed, read_log())
    agent = start_agent("--jobs=1", "--wait=60")
    finish(agent)
    finish(run)
    check_complete(2)
    for caller in callers:
        caller.close()


def impostor():
    """An agent starts nothing for a peer that answers without the key, in TLS or not."""
    listener = socket.create_server(("127.0.0.1", 0))
    endpoint = "127.0.0.1:%d" % listener.getsockname()[1]
    command = [program, "join", endpoint, "--jobs=1", "--wait=0"]
    environment = {**os.environ, "TESSERA_TUNE_KEY": "0123456789abcdef" * 4}
    message = encode({"op": "welcome", "target": "cpu", "chip": "generic"})
    message += encode({"op": "start", "worker": 1, "arguments": ["compile"]})
    # One that speaks the protocol without TLS.
    agent = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    with listener.accept()[0] as caller:
        said = caller.recv(4096)
        # It begins with the record of a TLS handshake, and has neither a key nor anything else in clear.
        assert said[0] == 22 and b"hello" not in said and b"0123456789abcdef" not in said, said
        try:
            caller.sendall(message)
            while caller.recv(4096):
                pass
        except ConnectionError:
            pass
    _, error = agent.communicate(timeout=600)
    assert agent.returncode == 1 and "cannot reach the run" in error and "joined" not in error, error
    # One that speaks TLS, with a certificate instead of the key.
    subject = ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "own.key", "-out", "own.pem", "-subj", "/CN=x"]
    subprocess.run(subject, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("own.pem", "own.key")
    agent = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    caller, _ = listener.accept()
    try:
        with context.wrap_socket(caller, server_side=True) as line:
            line.sendall(message)
            assert not line.recv(4096), "the agent speaks to a server without the key"
    except (ssl.SSLError, ConnectionError):
        pass
    _, error = agent.communicate(timeout=600)
    assert agent.returncode == 1 and "has a different key" in error and "joined" not in error, error
    # A run with another key.
    run = start_run("--trials=1")
    (host, port), key = read_address()
    agent = join(f"{host}:{port}", "f" * 8 + "0123456789abcdef")
    assert agent.returncode == 1 and "has a different key" in agent.stderr, agent
    assert key not in agent.stderr, agent
    run.kill()
    run.wait()


def nobody_measures():
    """A run ends with its budget where no host comes that measures, and reports this; the host reports why it does not."""
    # On a busy machine the host may come after the end: then with a larger budget.
    for budget in (3, 30, 300):
        if os.path.exists(join_file):
            os.remove(join_file)
        run = start_run("--target=cuda:sm_80", f"--budget={budget}s")
        agent = start_agent("--jobs=1", "--devices=1000")
        finish(run, 77)
        output, _ = agent.communicate(timeout=1200)
        if "no device cuda:1000 is here" in output and agent.returncode == 0:
            break
    else:
        raise AssertionError(output)
    text = read_log()
    assert re.search(r"note: host \S+: no device cuda:1000 is here", text), text
    assert "nothing was measured: --devices=none, and no measuring host has joined" in text, text
    assert read_records() == [], read_records()


def left_alone():
    """An agent whose run is killed reports this, and its workers end with it."""
    run = start_run("--trials=1000")
    agent = start_agent("--jobs=1")
    wait_for(lambda: count_measured() >= 2, "records")
    workers = children_of(agent.pid, "worker")
    assert len(workers) == 2, workers
    run.kill()
    run.wait()
    assert "ended early" in finish(agent, 1)
    wait_for(lambda: not any(os.path.exists(f"/proc/{worker}") for worker in workers), "their end")


globals()[scenario]()
print(scenario + ": passed")
