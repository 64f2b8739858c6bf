#!/usr/bin/env python3
"""Checks that the documentation says what the code does.

usage: docs_check.py GOSSAMER            report what is wrong; GOSSAMER is the built command
       docs_check.py GOSSAMER --update   rewrite the snippets and tables that are out of date
       docs_check.py --self-test         feed each rule a page that breaks it and one that does not

In every *.md file:
 - a fenced block behind `<!-- snippet: FILE#NAME -->` is the region of FILE between the comments `snippet NAME begin`
   and `snippet NAME end`; behind `<!-- snippet: FILE -->` it is the whole file;
 - a fenced block behind `<!-- refusal: gossamer ... -->` is the refusal that this command prints;
 - between `<!-- generated: gossamer list KIND -->` (or `explain`) and `<!-- /generated -->` stands the registry of that
   kind as a table (or as sections); behind `<!-- generated: gossamer reproduce ... -->` the output of it;
 - tests that are named (the test `suite.case`) exist;
 - relative links and images lead to files, and #fragments to headings;
 - there is one heading of the first level, and prose has at most 120 characters a line;
 - commands in ```console blocks and keys in ```toml blocks have flags, names and parameters that exist; fault plans and
   files of hosts are left to tests/faults and tests/process, which read them.
"""

import json
import re
import shlex
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Callable, Iterator

sys.dont_write_bytecode = True
from docs_examples import wrong_examples  # noqa: E402
from docs_pages import Finding, Page, Problem, World  # noqa: E402
from style_check import listed  # noqa: E402

MARK = re.compile(r"\s*(?://|#) snippet (?P<name>[\w-]+) (?:begin|end)")


# -- text that is copied from elsewhere --------------------------------------------------------------------------------

@dataclass
class Copy:
    begin: int  # page.lines[begin:end] should be the original
    end: int
    marker: str
    original: Callable[[World], list[str]]


def snippet(reference: str, world: World) -> list[str]:
    path, _, name = reference.partition("#")
    text = world.read(path)
    if text is None:
        raise Problem(f"there is no file {path}; correct the name in the comment")
    lines = text.splitlines()
    if name:
        marks = [i for i, line in enumerate(lines) if (found := MARK.match(line)) and found["name"] == name]
        if len(marks) != 2:
            raise Problem(f"{path} has no region {name}; mark it with comments 'snippet {name} begin' and '... end'")
        lines = lines[marks[0] + 1:marks[1]]
    return textwrap.dedent("\n".join(line for line in lines if not MARK.match(line))).splitlines()


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def table(kind: str, world: World) -> list[str]:
    rows = ["| name | what it is | parameters |", "|---|---|---|"]
    for entry in json.loads(world.gossamer("list", kind, "--json")):
        parameters = (f"`{p['key']}={'...' if p['required'] else p['default']}`" for p in entry["parameters"])
        rows.append(f"| `{entry['name']}` | {cell(entry['summary'])} | {cell(', '.join(parameters))} |")
    return rows


def sections(kind: str, world: World) -> list[str]:
    lines: list[str] = []
    for entry in json.loads(world.gossamer("list", kind, "--json")):
        lines += ["", f"### {entry['name']}", ""] + textwrap.wrap(entry["summary"] + ".", 120)
        if entry.get("maths"):
            lines += ["", "```text", *entry["maths"].splitlines(), "```"]
        for title in ("reference", "cost", "faults", "limits"):
            if entry.get(title):
                lines += ["", *textwrap.wrap(f"*{title.capitalize()}.* {entry[title]}", 120, break_on_hyphens=False)]
        if entry["parameters"]:
            lines += ["", "| parameter | default | allowed | meaning |", "|---|---|---|---|"]
        for p in entry["parameters"]:
            default = "" if p["required"] else f"`{p['default']}`"
            lines.append(f"| `{p['key']}` | {default} | {cell(p['range'])} | {cell(p['meaning'])} |")
    return lines + [""]


def printed(words: str, world: World) -> list[str]:
    return ["", *world.gossamer(*shlex.split(words)).splitlines(), ""]


def refused(words: str, world: World) -> list[str]:
    return world.refusal(*shlex.split(words)).splitlines()


def copies(page: Page) -> Iterator[Copy]:
    blocks = {begin: end for begin, end, _ in page.blocks()}
    prose = dict(page.prose())
    for number, line in prose.items():
        if found := re.fullmatch(r"<!-- (snippet|refusal): (?:gossamer )?(.+) -->", line):
            write = snippet if found[1] == "snippet" else refused
            if number + 1 not in blocks:
                yield Copy(number, number, line, lambda _: ["(a fenced block is missing here)"])
            else:
                yield Copy(number + 1, blocks[number + 1], line, lambda world, write=write, r=found[2]: write(r, world))
        elif found := re.fullmatch(r"<!-- generated: gossamer (list|explain) (\w+) -->", line):
            end = next((n for n, text in prose.items() if n > number and text == "<!-- /generated -->"), number + 1)
            write = table if found[1] == "list" else sections
            yield Copy(number, end - 1, line, lambda world, write=write, kind=found[2]: write(kind, world))
        elif found := re.fullmatch(r"<!-- generated: gossamer (reproduce .*) -->", line):
            end = next((n for n, text in prose.items() if n > number and text == "<!-- /generated -->"), number + 1)
            yield Copy(number, end - 1, line, lambda world, words=found[1]: printed(words, world))


def outdated_copies(page: Page, world: World) -> Iterator[Finding]:
    for copy in copies(page):
        try:
            if page.lines[copy.begin:copy.end] != copy.original(world):
                yield copy.begin, f"this is not what {copy.marker} stands for; run scripts/docs_check.py with --update"
        except Problem as problem:
            yield copy.begin, str(problem)


def updated(page: Page, world: World) -> str:
    lines = page.lines
    for copy in reversed(list(copies(page))):
        lines[copy.begin:copy.end] = copy.original(world)
    return "\n".join(lines) + "\n"


def missing_tests(page: Page, world: World) -> Iterator[Finding]:
    for number, line in page.prose():
        for named in re.findall(r"\btests? ((?:`\w+\.\w+`(?:, )?)+)", line):
            for test in re.findall(r"`([^`]+)`", named):
                if test not in world.tests:
                    yield number, f"there is no test {test}"


# -- links and form ----------------------------------------------------------------------------------------------------

def slug(heading: str) -> str:
    """Returns the fragment that leads to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lstrip("#").strip().lower()).replace(" ", "-")


def broken_links(page: Page, world: World) -> Iterator[Finding]:
    for number, line in page.prose():
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, fragment = target.partition("#")
            path = str(PurePosixPath(*resolved(page.path.parent / name))) if name else str(page.path)
            if name and not world.exists(path):
                yield number, f"the link to {target} leads nowhere; correct it"
            elif fragment and path.endswith(".md"):
                text = page.text if path == str(page.path) else world.read(path)
                if fragment not in map(slug, Page(PurePosixPath(path), text or "").headings()):
                    yield number, f"there is no heading for {target}; correct it"


def resolved(path: PurePosixPath) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return parts


def not_one_title(page: Page, _: World) -> Iterator[Finding]:
    titles = [line for line in page.headings() if line.startswith("# ")]
    if len(titles) != 1:
        yield 1, f"the page has {len(titles)} headings of the first level; give it one"


def long_lines(page: Page, _: World) -> Iterator[Finding]:
    for number, line in page.prose():
        if len(line) > 120 and not line.startswith("|"):
            yield number, "the line has more than 120 characters; break it"


@dataclass
class Rule:
    check: Callable[[Page, World], Iterator[Finding]]
    bad: list[str]  # pages that break it
    good: list[str]


RULES = [
    Rule(outdated_copies,
         ["# A\n<!-- snippet: a.cpp#loop -->\n```cpp\nint j;\n```\n", "# A\n<!-- snippet: b.cpp -->\n```cpp\n```\n",
          "# A\n<!-- snippet: a.cpp#line -->\n```cpp\nint i;\n```\n", "# A\n<!-- snippet: a.cpp -->\ntext\n",
          "# A\n<!-- refusal: gossamer train --codec unifrom -->\n```text\nknown: all\n```\n",
          "# A\n<!-- refusal: gossamer train -->\n```text\nunknown codec\n```\n",
          "# A\n<!-- generated: gossamer explain codecs -->\n<!-- /generated -->\n",
          "# A\n<!-- generated: gossamer list codecs -->\n<!-- /generated -->\n"],
         ["# A\n<!-- snippet: a.cpp#loop -->\n```cpp\nint i;\n```\n",
          "# A\n<!-- snippet: a.cpp -->\n```cpp\nvoid f() {\n  int i;\n}\n```\n",
          "# A\n<!-- refusal: gossamer train --codec unifrom -->\n```text\nunknown codec\n```\n",
          "# A\n<!-- generated: gossamer list codecs -->\n| name | what it is | parameters |\n|---|---|---|\n"
          "| `uniform` | rounds \\| packs | `bits=8` |\n<!-- /generated -->\n",
          "# A\n<!-- generated: gossamer explain codecs -->\n\n### uniform\n\nrounds | packs.\n\n"
          "| parameter | default | allowed | meaning |\n|---|---|---|---|\n"
          "| `bits` | `8` | 1 to 16 | width |\n\n<!-- /generated -->\n"]),
    Rule(missing_tests, ["# A\nThe test `a.c`.\n", "# A\n| tests `a.b`, `a.c` |\n"], ["# A\n| tests `a.b`, `b.a` | `x.y` |\n"]),
    Rule(broken_links, ["# A\n[b](b.md)\n", "# A\n![b](images/b.svg)\n", "# A\n[b](#part-two)\n"],
         ["# A\n[a](a.cpp) [web](https://example.org/) `[i](j)`\n", "# A\n[b](#part-2-it-is)\n## Part 2: it is\n"]),
    Rule(not_one_title, ["text\n", "# A\n# B\n"], ["# A\n```sh\n# a comment\n```\n## B\n"]),
    Rule(long_lines, [f"# A\n{'a' * 121}\n"], [f"# A\n| {'a' * 121} |\n```\n{'a' * 121}\n```\n"]),
    Rule(wrong_examples,
         [*(f"# A\n```console\n$ gossamer {words}\n```\n" for words in (
             "train --codek uniform", "train --codec u", "list kodecs", "fly --high", "train -- train --codek u",
             "reproduce x -- --codek u")),
          "# A\n```console\n$ bin/gossamer train \\\n    --codec uniform:bit=8\n```\n",
          "# A\n```toml\ncodek = 1\n```\n", '# A\n```toml\ncodec = "u"\n```\n'],
         ["# A\n```console\n$ bin/gossamer train --codec uniform:bits=8 -- train --json  # comment\nany --text\n```\n",
          "# A\n```console\n$ gossamer reproduce x -- --codec uniform:bits=8\n```\n",
          "# A\n```console\n$ gossamer list codecs\n$ gossamer --help\n$ ls --nonsense\n```\n",
          '# A\n```toml\ncodec = "uniform:bits=4"\n# text\n```\n', '# A\n```toml\n[[fault]]\nkind = "kill"\n```\n']),
]


def findings(pages: list[Page], world: World) -> Iterator[str]:
    for page in pages:
        for rule in RULES:
            for line, problem in rule.check(page, world):
                yield f"{page.path}:{line}: {problem}"


def self_test() -> Iterator[str]:
    files = {"a.cpp": "void f() {\n  // snippet loop begin\n  int i;\n  // snippet loop end\n}\n"}
    printed = {
        ("--help",): "",
        ("train", "--help"): "  --codec NAME    how (default: identity)\n  --json     print\n",
        ("reproduce", "--help"): "  --quick      fast\n",
        ("simulate", "--help"): "  --codec NAME    how (default: identity)\n",
        ("list", "--help"): "  -h, --help    print\n",
        ("list", "codecs"): "",
        ("list", "codecs", "--json"): json.dumps([{"name": "uniform", "summary": "rounds | packs", "parameters": [
            {"key": "bits", "default": "8", "required": False, "range": "1 to 16", "meaning": "width"}]}]),
    }

    def gossamer(*arguments: str) -> str:
        if arguments not in printed:
            raise Problem("refused")
        return printed[arguments]

    def refusal(*arguments: str) -> str:
        if arguments != ("train", "--codec", "unifrom"):
            raise Problem("it does not refuse")
        return "unknown codec"

    world = World(files.get, files.__contains__, gossamer, {"a.b", "b.a"}, refusal)
    for rule in RULES:
        for text, expected in [(text, True) for text in rule.bad] + [(text, False) for text in rule.good]:
            if any(rule.check(Page(PurePosixPath("a.md"), text), world)) != expected:
                yield f"self-test: {rule.check.__name__} {'misses' if expected else 'refuses'} {text!r}"
    page = Page(PurePosixPath("a.md"), RULES[0].bad[0] + RULES[0].bad[-1])
    if any(outdated_copies(Page(page.path, updated(page, world)), world)):
        yield "self-test: --update leaves a page out of date"


def world_of(root: Path, command: str) -> World:
    known: dict[tuple[str, ...], str] = {}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60, cwd=root)

    def refusal(*arguments: str) -> str:
        result = run(*arguments)
        if result.returncode == 0 or result.stdout:
            raise Problem(f"gossamer {shlex.join(arguments)} does not refuse")
        return result.stderr

    def gossamer(*arguments: str) -> str:
        if arguments not in known:
            result = run(*arguments)
            if result.returncode != 0:
                raise Problem(f"gossamer {shlex.join(arguments)} fails: {result.stderr.strip()}")
            known[arguments] = result.stdout
        return known[arguments]

    def read(path: str) -> str | None:
        return (root / path).read_text(encoding="utf-8") if (root / path).is_file() else None

    sources = "\n".join(path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*_test.cpp"))
    tests = {".".join(pair) for pair in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", sources, re.MULTILINE)}
    return World(read, lambda path: (root / path).exists(), gossamer, tests, refusal)


def main() -> int:
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        found = list(self_test())
        print(*found, f"docs: {len(RULES)} rules, {len(found)} findings", sep="\n")
        return 1 if found else 0
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--update"]):
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(__file__).resolve().parent.parent
    world = world_of(root, str(Path(arguments[0]).resolve()))
    names = sorted({name for name in listed(root) if name.endswith(".md") and (root / name).is_file()})
    pages = [Page(PurePosixPath(name), (root / name).read_text(encoding="utf-8")) for name in names]
    if arguments[1:]:
        for page in pages:
            try:
                text = updated(page, world)
            except Problem as problem:
                print(f"{page.path}: not updated: {problem}")
                continue
            if text != page.text:
                (root / page.path).write_text(text, encoding="utf-8")
                page.text = text
                print(f"{page.path}: updated")
    found = list(findings(pages, world))
    print(*found, sep="\n" if found else "")
    print(f"docs: {len(RULES)} rules, {len(pages)} pages, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
