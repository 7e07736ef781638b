"""All constructs, in the order of the rows of docs/dace.md: each group once."""

from tests.sdfg.foreign import (  # noqa: F401 - they register what is in them
    constructs,
    jump_constructs,
    lapack_constructs,
    onnx_constructs,
)

GROUPS = list(dict.fromkeys(one.group for one in constructs.CONSTRUCTS))
CONSTRUCTS = sorted(constructs.CONSTRUCTS, key=lambda one: GROUPS.index(one.group))
