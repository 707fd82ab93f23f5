"""Work shared by a Ray cluster on this machine; run in .venv-rllib by `make test-rllib`."""

import os
import signal

import pytest
import ray

from klondike_env.solver import Limits
from klondike_env.solver.study.many import solve_many
from klondike_env.work import WorkerDied, share
from train.evaluate import evaluate

LIMITS = Limits(nodes=2000, seconds=None)
BACKENDS = [("processes", 1), ("processes", 2), ("ray", 1), ("ray", 2)]


@pytest.fixture(scope="module", autouse=True)
def _ray_of_this_machine():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        yield


@pytest.fixture(scope="module")
def cluster():
    """A cluster that is up, as this process sees it."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_a_cluster_that_is_not_there_is_started_and_ended():
    assert not ray.is_initialized()
    assert sorted(share(abs, [-1, -2, -3], workers=2, backend="ray")) == [1, 2, 3]
    assert not ray.is_initialized()


def test_all_backends_solve_alike(cluster, tmp_path):
    told = [
        [
            (row.deal, row.verdict, row.n_actions, row.nodes)
            for row in solve_many(
                range(50),
                "draw3",
                workers=workers,
                backend=backend,
                limits=LIMITS,
                file=tmp_path / f"{backend}{workers}.csv",
                show_progress=False,
            )
        ]
        for backend, workers in BACKENDS
    ]
    assert told == [told[0]] * len(BACKENDS)
    assert {line.count("\n") for line in (file.read_text() for file in tmp_path.iterdir())} == {52}
    assert ray.is_initialized()  # it was up before, so it stays


def test_all_backends_play_alike(cluster):
    figures = [
        {
            name: result.model_copy(update={"ms_per_game": 0})
            for name, result in evaluate(
                ["random", "greedy"], "draw1", 40, workers=workers, backend=backend, progress=False
            ).agents.items()
        }
        for backend, workers in BACKENDS
    ]
    assert figures == [figures[0]] * len(BACKENDS)


def fail(number):
    raise KeyError(number)


def end(number):
    os.kill(os.getpid(), signal.SIGKILL)


def test_errors_and_dead_workers_are_told(cluster):
    with pytest.raises(KeyError, match="7"):
        list(share(fail, [7], backend="ray"))
    with pytest.raises(WorkerDied, match=r"a worker of Ray ended \(WorkerCrashedError\): it was killed"):
        list(share(end, [7], backend="ray"))
