"""Files of networks: safetensors files whose metadata says which format they have and what they were trained for.

Loading one runs no code of its author.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open


class NetworkFile(NamedTuple):
    """The contents of a file.

    Attributes:
        tensors: the weights by name, in the framework asked for.
        about: what the file says of itself.
    """

    tensors: dict[str, Any]
    about: dict[str, Any]


def metadata_of(name: str, about: dict[str, Any]) -> dict[str, str]:
    """The metadata of a file. name: of its format; about: JSON-able, whatever is worth keeping."""
    return {"format": name, "about": json.dumps(about)}


def read_network(path: Path, name: str, framework: str) -> NetworkFile:
    """Read a file.

    Args:
        path: the file.
        name: the name of the format that it must have.
        framework: "pt" for tensors of torch, "np" for arrays.

    Raises:
        ValueError: it is no safetensors file, or has another format.
    """
    try:
        with safe_open(path, framework=framework) as file:
            metadata = file.metadata() or {}
            tensors = {tensor: file.get_tensor(tensor) for tensor in file.keys()}  # noqa: SIM118 - file is no mapping
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is no safetensors file: {error}") from error
    if metadata.get("format") != name:
        raise ValueError(f"{path} has format {metadata.get('format')!r}; this version reads {name!r}")
    return NetworkFile(tensors, json.loads(metadata["about"]))
