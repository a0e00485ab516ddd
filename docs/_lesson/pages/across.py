"""The table of what tests/benchmark_distributed.py measured, for the page beside its file."""

from __future__ import annotations

from attention import table


def runs(measured: dict) -> str:
    """What each run took, sent and held."""
    header = ["queries", "s", "MiB of files", "MiB sent", "MiB allowed", "MiB at most, each worker"]
    rows = []
    for name, run in measured["runs"].items():
        lost = ", a worker lost" if name.endswith("lost") else ""
        sent = f"{run['MiB sent']:.1f}" if "MiB sent" in run else ""
        peaks = " and ".join(f"{peak:.0f}" for peak in run["MiB at the peak"])
        cells = (
            f"{run['queries']:,}{lost}",
            f"{run['seconds']:.1f}",
            f"{run['MiB of the whole']:,.0f}",
        )
        rows.append([*cells, sent, str(run["MiB allowed"]), peaks])
    machine = measured["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    return (
        f"{table(header, rows)}\n\nMeasured on a processor that calls itself "
        f"{machine['processor']} ({machine['system']}), other work going on beside. "
        f"Versions: {versions}."
    )
