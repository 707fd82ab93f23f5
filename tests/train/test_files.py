"""Files of a run are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from train.files import claim_run_dir, write_atomically


def test_writes_text_and_bytes_and_makes_directories(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "text.md", "ä\n")
    write_atomically(tmp_path / "a" / "picture.png", b"\x89PNG")
    assert (tmp_path / "a" / "text.md").read_text(encoding="utf-8") == "ä\n"
    assert (tmp_path / "a" / "picture.png").read_bytes() == b"\x89PNG"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.json"
    write_atomically(path, "old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_claims_a_new_or_empty_directory(tmp_path: Path) -> None:
    assert claim_run_dir(tmp_path / "runs" / "new").is_dir()
    assert claim_run_dir(tmp_path / "runs" / "new").is_dir()


def test_refuses_a_directory_with_an_earlier_run(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("")
    with pytest.raises(FileExistsError, match="holds an earlier run; resume that run, remove it or choose another"):
        claim_run_dir(tmp_path)
