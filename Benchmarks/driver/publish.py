"""`make bench-pictures`: the pictures of the last runs into docs/bench, with a page that says on what machine and beside which versions,
and Benchmarks/GOALS.md anew. All of it is made of the saved figures, so it can be made again without measuring."""

import json

from driver import goals, growth, machine, overview, peers, saved
from driver.picture import draw

PLACE = peers.ROOT / "docs" / "bench"
GOALS = peers.HERE / "GOALS.md"


def growth_picture(directory):
    path = directory / "growth.json"
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    results = {name: {int(size): figures for size, figures in sizes.items()} for name, sizes in content["operations"].items()}
    return growth.draw(results, machine.short(content["machine"]))


def page(groups, about, has_growth):
    where = about["machine"]
    lines = [
        "# Pictures", "",
        f"Made by `make bench` and `make bench-pictures` on {where['time'][:10]}: {where['processor']}, {where['cores']} cores, "
        f"Linux {where['kernel']}, {where['c_library']}; {about['repetitions']} repetitions of {about['milliseconds']} ms, "
        f"load {where['load']:.1f} at the end.", "",
        f"Beside: {machine.versions(about['peers'])}.", "",
        "What is measured, and how to read it: [Benchmarks](../../Benchmarks/README.md). What we ask of ourselves: "
        "[Benchmarks/GOALS.md](../../Benchmarks/GOALS.md).", "", "![overview](overview.svg)",
    ]
    for group in groups:
        lines += ["", f"## {group.title}", "", f"![{group.key}]({group.key}.svg)"]
    if has_growth:
        lines += ["", "## How costs grow with the number of items", "", "![growth](growth.svg)"]
    return "\n".join(lines) + "\n"


def publish(directory):
    groups, results, counts, about = saved.load(directory)
    if not groups:
        raise SystemExit(f"nothing is in {directory}; `make bench` comes first")
    PLACE.mkdir(parents=True, exist_ok=True)
    short = machine.short(about["machine"])
    pictures = {group.key: draw(group, results, about["peers"], short) for group in groups}
    pictures |= {"overview": overview.draw(groups, results, short, machine.versions(about["peers"])), "growth": growth_picture(directory)}
    for name, picture in pictures.items():
        if picture:
            (PLACE / f"{name}.svg").write_text(picture, encoding="utf-8")
    (PLACE / "README.md").write_text(page(groups, about, bool(pictures["growth"])), encoding="utf-8")
    goals.document(GOALS, groups, results, counts, short)
    print(f"{sum(map(bool, pictures.values()))} pictures in {PLACE.relative_to(peers.ROOT)}; {GOALS.relative_to(peers.ROOT)}")
