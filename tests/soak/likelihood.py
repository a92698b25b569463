from collections.abc import Sequence


def likelihood(some: Sequence[float], others: Sequence[float]) -> float:
    """How likely one of ``some`` is greater than one of ``others``: 0.5 if nothing tells them."""
    greater = sum((one > other) + (one == other) / 2 for one in some for other in others)
    return greater / (len(some) * len(others))
