from __future__ import annotations

import pytest

from tests.boards import EngineTable, ReferenceTable, Table


@pytest.fixture(params=[EngineTable, ReferenceTable], ids=["engine", "reference"])
def table(request: pytest.FixtureRequest) -> type[Table]:
    """Where a rule is tried: `table(start, rules, **options)` plays by the engine, then by the reference."""
    return request.param
