"""Sharing work: one function over many chunks, in this process, in several, or on the machines of a Ray cluster.

The pools are our own because joblib differs in two ways. Its generators take chunks before the caller has seen the
results of earlier ones; ours take a chunk only when a worker is free. And when the program is killed, its workers
finish their chunks first; ours end with the program.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Any, Generic, TypeVar

from gymnasium.error import DependencyNotInstalled

from klondike_env.checks import check_choice, check_whole_number

BACKENDS = ("processes", "ray")

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


class WorkerDied(RuntimeError):
    """A worker process ended before its work was done."""


def share(
    function: Callable[[Chunk], Result],
    chunks: Iterable[Chunk],
    *,
    workers: int = 1,
    backend: str = "processes",
) -> Iterator[Result]:
    """Apply a function to every chunk.

    A chunk is taken only when a worker is free for it, so `chunks` may depend on the results so far. No chunk is begun
    after the iterator is closed, or after an exception such as KeyboardInterrupt.

    Args:
        function: called with each chunk.
        chunks: the work.
        workers: how many chunks are worked on at a time.
        backend: "processes" for this machine, or "ray" for a running Ray cluster, or one that is started here and ends
            with the iterator. With "processes", a single worker is this process itself. Several are new processes
            that import the program, so it must share work below `if __name__ == "__main__":`.

    Returns:
        The results in the order in which they are ready.

    Raises:
        ValueError: workers or backend is not allowed, or the function cannot be sent to other processes.
        DependencyNotInstalled: Ray is not installed, or cloudpickle, which several workers need.
        WorkerDied: from the iterator, after the results that are ready: a worker was killed.
        Exception: from the iterator, after the results that are ready: whatever the function raised.
    """
    check_whole_number("workers", workers, 1)
    check_choice("backend", backend, BACKENDS)
    if is_here(workers, backend):
        return map(function, chunks)
    kind = _Processes if backend == "processes" else _Ray
    return _results(kind(packed("the work", function), workers), iter(chunks), workers)


def is_here(workers: int, backend: str) -> bool:
    """Whether `share` does the work in this process."""
    return backend == "processes" and workers == 1


def _results(pool: _Pool[Any], chunks: Iterator[Any], workers: int) -> Iterator[Any]:
    with pool:
        while True:
            for chunk in islice(chunks, workers - len(pool.running)):
                pool.begin(chunk)
            if not pool.running:
                return
            faults = []
            for ticket in pool.wait():
                try:
                    result = pool.result(ticket)
                except Exception as fault:
                    faults.append(fault)
                else:
                    yield result
            if faults:
                raise faults[0]


def packed(what: str, value: Any) -> bytes:
    """A value as bytes that other processes can unpack; error messages call it `what`.

    Raises:
        ValueError: it cannot be sent to other processes.
        DependencyNotInstalled: cloudpickle is not installed.
    """
    try:
        import cloudpickle
    except ImportError as error:
        raise DependencyNotInstalled(
            "several workers need cloudpickle; run: pip install 'klondike-env[cli]', or use one worker"
        ) from error
    try:
        return cloudpickle.dumps(value)
    except Exception as error:  # pickling may call code of other authors, which may raise anything
        raise ValueError(f"{what} cannot be sent to other processes: {error}; use one worker") from error


def _call(packed: bytes, chunk: Any) -> Any:
    return _unpacked(packed)(chunk)


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Callable[[Any], Any]:
    return pickle.loads(packed)  # bytes that cloudpickle wrote for pickle


Ticket = TypeVar("Ticket")


class _Pool(ABC, Generic[Ticket]):
    """Workers; `running` holds a ticket for each chunk that is being worked on."""

    def __init__(self) -> None:
        self.running: set[Ticket] = set()

    @abstractmethod
    def begin(self, chunk: Any) -> None:
        """Let a worker begin with a chunk."""

    @abstractmethod
    def wait(self) -> Iterable[Ticket]:
        """Wait until a chunk is done; return the tickets of all finished chunks and remove them from `running`."""

    @abstractmethod
    def result(self, ticket: Ticket) -> Any:
        """The result of a chunk that is done; raises what the function raised, or WorkerDied."""

    @abstractmethod
    def close(self) -> None:
        """Begin no more chunks, and end the workers."""

    def __enter__(self) -> _Pool[Ticket]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Processes(_Pool["Future[Any]"]):
    """New processes on this machine, not forks: a fork could not use the threads that libraries have started here."""

    def __init__(self, packed: bytes, workers: int) -> None:
        super().__init__()
        self._packed = packed
        self._executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_follow_the_parent)

    def begin(self, chunk: Any) -> None:
        try:
            self.running.add(self._executor.submit(_call, self._packed, chunk))
        except BrokenProcessPool as error:
            raise _died("a worker process ended") from error

    def wait(self) -> Iterable[Future[Any]]:
        ready, self.running = wait(self.running, return_when=FIRST_COMPLETED)
        return ready

    def result(self, ticket: Future[Any]) -> Any:
        try:
            return ticket.result()
        except BrokenProcessPool as error:
            raise _died("a worker process ended") from error

    def close(self) -> None:
        self._executor.shutdown(cancel_futures=True)


def _follow_the_parent() -> None:
    """End this process silently on Ctrl-C, and when the process that started it ends, even if that is killed."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the cores are shared among the processes
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Ray(_Pool[Any]):
    """Tasks of a Ray cluster."""

    def __init__(self, packed: bytes, workers: int) -> None:
        super().__init__()
        try:
            import ray
        except ImportError as error:
            raise DependencyNotInstalled("Ray is not installed; run: pip install 'klondike-env[ray]'") from error
        self._ray = ray
        self._joined_here = not ray.is_initialized()
        if self._joined_here:
            _join_cluster(ray, workers)
        self._packed = ray.put(packed)
        self._call = ray.remote(_call)

    def begin(self, chunk: Any) -> None:
        self.running.add(self._call.remote(self._packed, chunk))

    def wait(self) -> Iterable[Any]:
        ready, running = self._ray.wait(list(self.running), num_returns=1)
        self.running = set(running)
        return ready

    def result(self, ticket: Any) -> Any:
        try:
            return self._ray.get(ticket)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise _died(f"a worker of Ray ended ({type(error).__name__})") from error

    def close(self) -> None:
        for ticket in self.running:
            self._ray.cancel(ticket, force=True)
        if self._joined_here:
            self._ray.shutdown()


def _join_cluster(ray: Any, workers: int) -> None:
    """Join a running cluster, or start one on this machine."""
    try:
        ray.init(address="auto", log_to_driver=False, logging_level="error")
    except ConnectionError:
        ray.init(address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")


def _died(what: str) -> WorkerDied:
    return WorkerDied(
        f"{what}: it was killed, for want of memory for example, or the program does not share work below "
        '`if __name__ == "__main__":`. Results that were written are kept; run the same again to go on'
    )
