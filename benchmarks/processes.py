# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that do tasks, and are replaced when they end or take too long."""

import collections
import multiprocessing
import multiprocessing.connection
import time


class Unusable(Exception):
    """A process cannot do its work at all."""


def first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def serve(connection, make, options):
    """The main function of a process that does tasks: `make` makes what does them."""
    try:
        work = make(options)
    except Exception as error:  # The parent reports it.
        connection.send({"unusable": first_line(error)})
        return
    connection.send({"ready": work.about})
    while True:
        connection.send(work.do(connection.recv()))


class Worker:
    """A process, and the task that it has."""

    def __init__(self, make, options):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, make, options), daemon=True)
        self.process.start()
        theirs.close()
        self.task, self.since, self.is_ready = None, time.monotonic(), False

    def give(self, task):
        self.task, self.since = task, time.monotonic()
        self.connection.send(task)

    def end(self):
        """Ends the process, whose results have arrived or are lost."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class Pool:
    """Processes that do tasks, each within `limit` seconds. One that ends or takes too long is replaced."""

    START_SECONDS = 180

    def __init__(self, make, options, count, limit):
        self.make, self.options, self.count, self.limit = make, options, count, limit
        self.workers, self.about = [], None

    def run(self, tasks, until):
        """Yields each task that was begun before `until` and its result; {"failed": why} without one."""
        waiting = collections.deque(tasks)
        try:
            while True:
                if time.monotonic() >= until:
                    waiting.clear()
                while waiting and len(self.workers) < min(self.count, len(waiting) + self.busy()):
                    self.workers.append(Worker(self.make, self.options))
                for worker in list(self.workers):
                    if worker.is_ready and worker.task is None and waiting:
                        try:
                            worker.give(waiting[0])
                            waiting.popleft()
                        except OSError:  # It has ended since its last task.
                            self.workers.remove(worker)
                            worker.end()
                if not waiting and not self.busy():
                    return
                yield from self.collect()
        finally:
            for worker in self.workers:
                worker.end()
            self.workers = []

    def busy(self):
        return sum(worker.task is not None for worker in self.workers)

    def collect(self):
        """Yields the results that have arrived, and fails tasks that are overdue."""
        for connection in multiprocessing.connection.wait([w.connection for w in self.workers], timeout=0.5):
            worker = next(w for w in self.workers if w.connection is connection)
            try:
                message = connection.recv()
            except (EOFError, OSError):
                yield from self.lose(worker, None)
                continue
            if "unusable" in message:
                raise Unusable(message["unusable"])
            if "ready" in message:
                worker.is_ready, self.about = True, message["ready"]
                continue
            task, worker.task = worker.task, None
            if message.pop("is_last", False):
                self.workers.remove(worker)
                worker.end()
            yield task, message
        now = time.monotonic()
        for worker in list(self.workers):
            if not worker.is_ready and now - worker.since > self.START_SECONDS:
                raise Unusable(f"a process has not started within {self.START_SECONDS} s")
            if worker.task is not None and now - worker.since > self.limit:
                yield from self.lose(worker, f"not done within {self.limit:g} s")

    def lose(self, worker, why):
        self.workers.remove(worker)
        worker.end()
        if not worker.is_ready:
            raise Unusable("a process ended while it started")
        if worker.task is not None:
            code = worker.process.exitcode
            yield worker.task, {"failed": why or f"the process ended with "
                                f"{f'signal {-code}' if code and code < 0 else f'status {code}'}"}
