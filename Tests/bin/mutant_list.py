"""Lists of places in which a source can be broken: Tests/Proof/Mutants/process.txt explains their form. For Tests/bin/mutants and its kin."""
import os
import shutil
import sys


class Mutant:
    def __init__(self, name):
        self.name, self.file, self.scenes, self.tests, self.delayed, self.equivalent = name, None, [], [], [], None
        self.changes = []  # [old, new]

    @property
    def path(self):
        return self.file if self.file.startswith(("Interop/", "Simulation/")) else f"Sources/{self.file}"

    def apply(self, folder, change=lambda old, new: new or ""):
        """Changes the file below the folder; the sentence that says why it can't."""
        path = os.path.join(folder, self.path)
        text = open(path).read()
        for old, new in self.changes:
            if text.count(old) != 1:
                return f"{self.name}: {self.file} has its text {text.count(old)} times instead of once: {old.strip()[:60]}"
            text = text.replace(old, change(old, new))
        open(path, "w").write(text)


def read_mutants(path):
    mutants, number = [], 0
    for line in open(path).read().split("\n"):
        number += 1
        key, _, value = line.partition(": ")
        if line.startswith("== "):
            mutants.append(Mutant(line[3:]))
        elif line.startswith("- "):
            if not mutants[-1].changes or mutants[-1].changes[-1][1] is not None:
                mutants[-1].changes.append(["", None])
            mutants[-1].changes[-1][0] += line[2:] + "\n"
        elif line.startswith("+"):
            change = mutants[-1].changes[-1]
            change[1] = (change[1] or "") + line[2:] + "\n"
        elif key in ("file", "equivalent"):
            setattr(mutants[-1], key, value)
        elif key in ("scenes", "tests", "delayed"):
            setattr(mutants[-1], key, value.split())
        elif line and mutants:
            sys.exit(f"{path}:{number}: what is this? {line}")
    return mutants


def all_fit(mutants, folder):
    """Whether each could be applied to the sources; prints those that could not."""
    faults = 0
    for mutant in mutants:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.dirname(f"{folder}/{mutant.path}"))
        shutil.copyfile(mutant.path, f"{folder}/{mutant.path}")
        fault = mutant.apply(folder)
        if fault:
            print(fault)
            faults += 1
    print(f"{len(mutants) - faults} of {len(mutants)} mutants fit the sources")
    return faults == 0
