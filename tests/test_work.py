"""Sharing work: the same results wherever it is done, nothing lost, and clear messages when something fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from gymnasium.error import DependencyNotInstalled

from klondike_env.work import WorkerDied, share


def square(number):
    return number * number


def fail_at_3(number):
    if number == 3:
        raise KeyError("three")
    return number


def end_at_3(number):
    if number == 3:
        time.sleep(2)  # the others are done by then
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_every_chunk_is_worked_on(workers):
    assert sorted(share(square, range(20), workers=workers)) == [number**2 for number in range(20)]


@pytest.mark.parametrize("workers", [1, 2])
def test_chunks_are_taken_when_a_worker_is_free(workers):
    taken, done = [], 0
    for _ in share(square, (taken.append(number) or number for number in range(12)), workers=workers):
        done += 1
        assert len(taken) <= done + workers
    assert done == 12


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_new_begins_once_it_is_left(workers, tmp_path):
    def note(number):
        (tmp_path / str(number)).touch()

    results = share(note, iter(range(1000)), workers=workers)
    next(results)
    del results
    assert len(list(tmp_path.iterdir())) <= 1 + workers


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_function_raises_is_raised_here(workers):
    with pytest.raises(KeyError, match="three"):
        list(share(fail_at_3, range(6), workers=workers))


def test_a_worker_that_is_killed_is_told_of_after_the_results_that_were_ready():
    seen = []
    with pytest.raises(WorkerDied, match="a worker process ended: it was killed, for want of memory for example"):
        seen.extend(share(end_at_3, range(9), workers=2))
    assert {0, 1, 2} <= set(seen) <= {0, 1, 2, 4, 5, 6, 7, 8}


def test_a_function_without_a_name_can_be_sent_but_not_a_lock():
    base = 5
    assert sorted(share(lambda number: base + number, range(3), workers=2)) == [5, 6, 7]
    lock = threading.Lock()
    with pytest.raises(ValueError, match=r"the work cannot be sent to other processes: .*lock.*; use one worker"):
        share(lambda number: lock, range(3), workers=2)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"workers": 0}, "workers is 0; allowed: a whole number from 1"),
        ({"backend": "threads"}, "backend is 'threads'; allowed: processes, ray"),
    ],
)
def test_what_is_not_allowed_is_refused_at_once(keywords, message):
    with pytest.raises(ValueError, match=message):
        share(square, range(3), **keywords)


def test_a_missing_ray_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(DependencyNotInstalled, match=r"Ray is not installed; run: pip install 'klondike-env\[ray\]'"):
        share(square, range(3), backend="ray")


# A program started in the background, as these tests may be, ignores Ctrl-C.
SLEEPERS = """
import os, signal, sys, time
from pathlib import Path
from klondike_env.work import share

def sleep(number):
    Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(300)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    list(share(sleep, range(9), workers=2))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_program(how, tmp_path):
    (tmp_path / "program.py").write_text(SLEEPERS)
    (tmp_path / "pids").mkdir()
    program = subprocess.Popen(
        [sys.executable, tmp_path / "program.py", tmp_path / "pids"],
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    pids = wait_for(lambda: [int(path.name) for path in (tmp_path / "pids").iterdir()], lambda pids: len(pids) == 2)
    if how == signal.SIGINT:
        os.killpg(program.pid, how)  # as a terminal does
    else:
        program.kill()
    _, said = program.communicate(timeout=60)
    wait_for(lambda: [pid for pid in pids if Path(f"/proc/{pid}").exists()], lambda alive: not alive)
    assert said.count(b"Traceback") == (how == signal.SIGINT)  # of the program alone
    assert len(list((tmp_path / "pids").iterdir())) == 2


def wait_for(look, is_enough, seconds=60.0):
    end = time.monotonic() + seconds
    while not is_enough(seen := look()):
        assert time.monotonic() < end, seen
        time.sleep(0.05)
    return seen
