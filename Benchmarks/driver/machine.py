"""Where and when it was measured, and with which versions of the peers."""

import os
import platform
import time


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.machine()


def about():
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "c_library": " ".join(platform.libc_ver()),
        "load": os.getloadavg()[0],
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def short(machine):
    """The machine, in a picture's line."""
    return f"{machine['processor']}, {machine['cores']} cores, Linux {machine['kernel'].split('-')[0]}, {machine['time'][:10]}"


def versions(peers):
    """Of the libraries, in a picture's line. Variants of one are the same library."""
    shown = [f"{name} {version.replace('Swift version', 'of Swift')}" for name, version in peers.items() if "-" not in name and name not in ("raw", "ours")]
    return "; ".join(shown)
