#!/usr/bin/env python3
"""The rules of the code that a machine can check; see docs/ for the reasons behind them.

usage: style_check.py [--self-test]

Looks at every tracked file and every untracked one that git does not ignore, prints `file:line: what is wrong; what to
do` for each finding, and exits with 1 if there is one. --self-test feeds each rule a file that breaks it and one that
does not, and fails if a rule is silent on the first or speaks on the second.
"""

import itertools
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Callable, Iterator

CPP = {".cpp", ".hpp", ".cu", ".cuh"}
HEADERS = {".hpp", ".cuh"}
CODE = CPP | {".py", ".cmake", ".sh"}
TEXT = CODE | {".md", ".txt", ".json", ".yml", ".yaml", ".toml", ".in"}

# The rooms of actors/ that know CAF. What each of them sees of the others, its library says: see actors/CMakeLists.txt.
HOSTS = {"hosting", "node", "real_time", "cluster", "simulated"}

# Files that may read a clock, each with the reason. Everything else is told the time.
MAY_READ_A_CLOCK: dict[str, str] = {
    "actors/hosting/worker_gauge.cpp": "tells people how workers in real time use it",
    "apps/detail/stopwatch.hpp": "tells people how long a simulation took or when it was, and ends one that hangs",
    "bench/all_reduce/measure.hpp": "measures all-reduces",
    "bench/cuda/gpu_gradient_bench.cpp": "measures steps per second",
}


LONGEST_FUNCTION = 70  # lines


@dataclass
class File:
    path: PurePosixPath
    text: str

    @property
    def folder(self) -> str:
        return self.path.parts[0]

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def is_build_file(self) -> bool:
        return self.path.name == "CMakeLists.txt" or self.path.suffix == ".cmake"

    def code_lines(self) -> Iterator[tuple[int, str]]:
        """The lines without their comments."""
        for number, line in enumerate(self.lines, 1):
            yield number, re.sub(r'^((?:[^"/]|"(?:\\.|[^"\\])*"|/(?!/))*)//.*', r"\1", line)


Check = Callable[[File, list[File]], Iterator[int]]


@dataclass
class Rule:
    problem: str
    remedy: str
    check: Check  # yields the lines that break the rule
    bad: tuple[str, str]  # a path and a text that break it
    good: tuple[str, str]


def lines_with(pattern: str, applies: Callable[[File], bool]) -> Check:
    """Finds a pattern in code; comments may say anything."""
    compiled = re.compile(pattern)

    def check(file: File, _: list[File]) -> Iterator[int]:
        if file.path.suffix in CPP and applies(file):
            yield from (number for number, line in file.code_lines() if compiled.search(line))

    return check


def everywhere(_: File) -> bool:
    return True


def outside(*folders: str) -> Callable[[File], bool]:
    return lambda file: file.folder not in folders


def in_header(file: File) -> bool:
    return file.path.suffix in HEADERS


def may_not_read_a_clock(file: File) -> bool:
    return file.folder != "tests" and str(file.path) not in MAY_READ_A_CLOCK


def names_caf_wrongly(file: File) -> bool:
    may = file.folder == "actors" and file.path.parts[1] in HOSTS or file.path.parts[:2] == ("tests", "actors")
    return not may and file.folder != "bench"


def names_cuda_wrongly(file: File) -> bool:
    """Sources under */cuda/ may, and private headers there."""
    inside = "cuda" in file.path.parts and (not in_header(file) or "detail" in file.path.parts)
    return file.folder != "tests" and not inside


def missing_pragma(file: File, _: list[File]) -> Iterator[int]:
    if in_header(file) and file.lines[:1] != ["#pragma once"]:
        yield 1


def too_long_file(file: File, _: list[File]) -> Iterator[int]:
    if file.path.suffix in CODE and len(file.lines) > 400:
        yield 401


def too_long_function(file: File, _: list[File]) -> Iterator[int]:
    """Definitions of functions, as clang-format lays them out: from the line with the name to the closing brace."""
    if file.path.suffix not in CPP:
        return
    lines = file.lines
    for end, line in enumerate(lines):
        if not re.fullmatch(r"( {0,4})\}", line):
            continue
        indent = len(line) - 1
        begin = end - 1
        while begin >= 0 and not (lines[begin].strip() and len(lines[begin]) - len(lines[begin].lstrip()) <= indent):
            begin -= 1
        opens = begin >= 0 and lines[begin].endswith("{") and "(" in lines[begin]
        if opens and not re.match(r"\s*(if|for|while|switch|else|do|\}|namespace)\b", lines[begin]):
            if end - begin + 1 > LONGEST_FUNCTION:
                yield begin + 1


def too_long_line(file: File, _: list[File]) -> Iterator[int]:
    if file.path.suffix in CPP:
        yield from (number for number, line in enumerate(file.lines, 1) if len(line) > 120)


def unfinished(file: File, _: list[File]) -> Iterator[int]:
    yield from (number for number, line in enumerate(file.lines, 1) if re.search(r"\b(TO[D]O|FIX[M]E)\b", line))


def trailing_blank(file: File, _: list[File]) -> Iterator[int]:
    yield from (number for number, line in enumerate(file.text.split("\n"), 1) if line != line.rstrip())


def never_entered_loop(file: File, _: list[File]) -> Iterator[int]:
    """g++ 12 never enters a loop that awaits in its condition when the body declares no local variable."""
    if file.path.suffix not in CPP:
        return
    lines = [line for _, line in file.code_lines()]
    for number, line in enumerate(lines, 1):
        if not re.match(r"\s*(while|for) \(.*co_await", line):
            continue
        indent = len(line) - len(line.lstrip())
        body = list(itertools.takewhile(lambda l: not l.strip() or len(l) - len(l.lstrip()) > indent, lines[number:]))
        declares = any(re.match(r"\s*(const )?[\w:<>]+[&*]? \w+( = |\{|;|\()", l) and "co_return" not in l for l in body)
        if not line.rstrip().endswith("{") or not declares:
            yield number


def orphan_test(file: File, files: list[File]) -> Iterator[int]:
    """A test is named by its own folder or one above it; what several folders share is named as folder/file."""
    if file.folder != "tests" or file.path.suffix != ".cpp":
        return

    def names(build: File, name: str) -> bool:
        return bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", build.text))

    shared = "/".join(file.path.parts[-2:])
    builds = [f for f in files if f.is_build_file]
    if not any(f.path.parent in file.path.parents and names(f, file.path.name) or names(f, shared) for f in builds):
        yield 1


RULES = [
    Rule("an include climbs out of its folder", 'spell it "gossamer/<folder>/<file>.hpp"',
         lines_with(r'^\s*#\s*include\s*"\.\./', everywhere),
         ("compress/a.cpp", '#include "../base/vec.hpp"\n'), ("compress/a.cpp", '#include "gossamer/base/vec.hpp"\n')),
    Rule("std::random_device is not reproducible", "use random_stream or random_sequence of base/philox.hpp",
         lines_with(r"\brandom_device\b", outside("tests")),
         ("compute/a.cpp", "std::random_device seed;\n"), ("compute/a.cpp", "// no std::random_device here\n")),
    Rule("rand() is not reproducible", "use random_stream or random_sequence of base/philox.hpp",
         lines_with(r"(?<![\w.>])s?rand\(", outside("tests")),
         ("compute/a.cpp", "int i = std::rand();\n"), ("compute/a.cpp", "auto i = operand(x) + g.rand();\n")),
    Rule("sleeping blocks a thread of the actor system", "send a delayed message",
         lines_with(r"\bsleep_(for|until)\b|\bu?sleep\(", outside("tests")),
         ("actors/a.cpp", "std::this_thread::sleep_for(1s);\n"), ("actors/a.cpp", "delayed_send(self, 1s);\n")),
    Rule("the clock is read in a place that should be told the time",
         "take the time as an argument, or add the file and the reason to MAY_READ_A_CLOCK in this script",
         lines_with(r"\b(system|steady|high_resolution)_clock::now\b", may_not_read_a_clock),
         ("compute/a.cpp", "auto t = std::chrono::steady_clock::now();\n"),
         ("compute/a.cpp", "using clock = std::chrono::steady_clock;\n")),
    Rule("using namespace in a header reaches everybody who includes it", "spell the names out",
         lines_with(r"^\s*using\s+namespace\b", in_header),
         ("base/a.hpp", "#pragma once\nusing namespace std;\n"), ("base/a.cpp", "using namespace std::literals;\n")),
    Rule("only the command line prints", "return the text, or log it",
         lines_with(r"\bstd::cout\b", outside("apps", "tests")),
         ("actors/a.cpp", 'std::cout << "x";\n'), ("apps/a.cpp", 'std::cout << "x";\n')),
    Rule("CAF is named outside the hosts of actors/", "keep actors behind the interfaces of the core",
         lines_with(r"^\s*#\s*include\s*[<\"]caf/", names_caf_wrongly),
         ("actors/worker/a.cpp", "#include <caf/all.hpp>\n"), ("actors/node/a.cpp", "#include <caf/all.hpp>\n")),
    Rule("CUDA is named where no toolkit may be needed", "keep its types in sources and detail/ headers under */cuda/",
         lines_with(r"^\s*#\s*include\s*[<\"](cuda|cu)(_|rand|blas)", names_cuda_wrongly),
         ("base/cuda/stream.hpp", "#pragma once\n#include <cuda_runtime_api.h>\n"),
         ("base/cuda/detail/check.hpp", "#pragma once\n#include <cuda_runtime_api.h>\n")),
    Rule("Eigen is named in a header", "include it in the .cpp, and pass spans in the header",
         lines_with(r"^\s*#\s*include\s*[<\"]Eigen/", in_header),
         ("compute/a.hpp", "#pragma once\n#include <Eigen/Core>\n"), ("compute/a.cpp", "#include <Eigen/Core>\n")),
    Rule("a header does not begin with #pragma once", "make it the first line",
         missing_pragma, ("base/a.hpp", "#include <span>\n"), ("base/a.hpp", "#pragma once\n")),
    Rule("a file has more than 400 lines", "find the second concept in it and move it out",
         too_long_file, ("base/a.cpp", "int i;\n" * 401), ("base/a.cpp", "int i;\n" * 400)),
    Rule("a function has more than 70 lines", "find the second concept in it and move it out",
         too_long_function, ("base/a.cpp", "int f() {\n" + "  g();\n" * 69 + "}\n"),
         ("base/a.cpp", "int f() {\n" + "  g();\n" * 68 + "}\n")),
    Rule("a line has more than 120 characters", "run clang-format, or break the line",
         too_long_line, ("base/a.cpp", "/" * 121 + "\n"), ("base/a.cpp", "é" * 120 + "\n")),
    Rule("something is marked as unfinished", "finish it, or delete the mark",
         unfinished, ("base/a.cpp", "// TO" "DO: later\n"), ("base/a.cpp", "// todos is Spanish for all\n")),
    Rule("white space ends a line", "remove it",
         trailing_blank, ("docs/a.md", "text \n"), ("docs/a.md", "text\n\n")),
    Rule("g++ 12 never enters this loop: it awaits in its condition, and its body declares no local variable",
         "await into a local variable of the body", never_entered_loop,
         ("actors/a.cpp", "  while (co_await w.next_step(t)) {\n    ++t;\n  }\n  int i = 0;\n"),
         ("actors/a.cpp", "  while (co_await w.next_step(t)) {\n    const vec g = co_await gradient;\n  }\n")),
    Rule("a test is not built", "name it in the CMakeLists.txt of its folder",
         orphan_test, ("tests/base/a_test.cpp", ""), ("tests/base/built_test.cpp", "")),
]


def listed(root: Path) -> list[str]:
    """What git knows or would add; without git (an unpacked archive) everything outside build folders."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0")[:-1]
    except (OSError, subprocess.CalledProcessError):
        paths = (p.relative_to(root) for p in root.rglob("*") if p.is_file())
        return [p.as_posix() for p in paths if not p.parts[0].startswith(("build", ".git"))]


def read(root: Path) -> list[File]:
    files = []
    for name in sorted(set(listed(root))):
        path = root / name
        if path.suffix in TEXT and path.is_file() and not path.is_symlink():
            files.append(File(PurePosixPath(name), path.read_bytes().decode("utf-8", "replace")))
    return files


def findings(files: list[File]) -> Iterator[str]:
    for file in files:
        for rule in RULES:
            for line in rule.check(file, files):
                yield f"{file.path}:{line}: {rule.problem}; {rule.remedy}"


def self_test() -> Iterator[str]:
    built = File(PurePosixPath("tests/base/CMakeLists.txt"), "gossamer_test(base SOURCES built_test.cpp)\n")
    for rule in RULES:
        for (path, text), expected in ((rule.bad, True), (rule.good, False)):
            file = File(PurePosixPath(path), text)
            if any(rule.check(file, [file, built])) != expected:
                yield f"self-test: the rule '{rule.problem}' {'misses' if expected else 'refuses'} {text[:60]!r}"


def main() -> int:
    arguments = sys.argv[1:]
    if arguments not in ([], ["--self-test"]):
        print(__doc__, file=sys.stderr)
        return 2
    files = read(Path(__file__).resolve().parent.parent)
    if not files:
        print("style: found no files to check", file=sys.stderr)
        return 1
    found = list(self_test() if arguments else findings(files))
    print(*found, sep="\n" if found else "")
    print(f"style: {len(RULES)} rules, {len(files)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
