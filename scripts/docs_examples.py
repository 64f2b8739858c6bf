"""Commands and settings that the documentation shows: they must exist."""

import json
import re
import shlex
from typing import Iterator

from docs_pages import Finding, Page, Problem, World

REGISTRY_OF_FLAG = {"--algorithm": "algorithms", "--codec": "codecs", "--topology": "topologies", "--model": "models",
                    "--data": "data", "--partition": "partitions", "--optimiser": "optimisers",
                    "--schedule": "schedules", "--network": "networks", "--jitter": "jitters"}


def flags_of(subcommand: str, world: World) -> dict[str, bool]:
    """Returns the flags of a subcommand, and whether they take a value."""
    found = re.findall(r"^  (?:-\w, )?(--[\w-]+)(?:, --[\w-]+)*( \S)?", world.gossamer(subcommand, "--help"), re.MULTILINE)
    return {flag: bool(value) for flag, value in found}


def check_spec(kind: str, text: str, world: World) -> None:
    name, _, rest = text.partition(":")
    entries = {entry["name"]: entry for entry in json.loads(world.gossamer("list", kind, "--json"))}
    if name not in entries:
        raise Problem(f"there is no '{name}' among the {kind}; correct it")
    known = {p["key"] for p in entries[name]["parameters"]}
    for given in filter(None, rest.split(",")):
        if given.partition("=")[0] not in known:
            raise Problem(f"'{name}' has no parameter '{given.partition('=')[0]}'; correct it")


def check_setting(flag: str, value: str, world: World) -> None:
    if flag in REGISTRY_OF_FLAG:
        check_spec(REGISTRY_OF_FLAG[flag], value, world)


def check_command(text: str, world: World) -> None:
    """Checks the words behind `gossamer`."""
    subcommand, *rest = shlex.split(text.replace("\\\n", " "), comments=True) or ["--help"]
    if subcommand.startswith("-"):
        world.gossamer(subcommand)
        return
    flags = flags_of(subcommand, world)
    names = []
    while rest:
        flag, _, value = rest.pop(0).partition("=")
        if flag == "--" and subcommand == "launch" and rest[0] != "train":
            return  # a program of the user's, with flags of its own
        if flag == "--":  # the job of nodes, or flags of all runs
            return check_command(shlex.join(["simulate", *rest] if subcommand in ("reproduce", "advise") else rest), world)
        if not flag.startswith("--"):
            names.append(flag)
        elif flag not in flags:
            raise Problem(f"gossamer {subcommand} has no flag {flag}; correct it")
        elif flags[flag]:
            check_setting(flag, value or (rest.pop(0) if rest else ""), world)
    if subcommand in ("list", "explain"):
        world.gossamer(subcommand, *names)


def check_key(text: str, world: World) -> None:
    """Checks a line `key = value` of a configuration."""
    key, _, value = (part.strip(" \"'") for part in text.partition("="))
    if f"--{key}" not in flags_of("simulate", world):  # simulate also has the settings of train
        raise Problem(f"gossamer simulate has no setting {key}; correct it")
    check_setting(f"--{key}", value, world)


# By language of a block: the pattern of an example, and the check of the pattern's first group.
EXAMPLES = {"console": (re.compile(r"^\$ (?:\S+/)?gossamer\b((?:\\\n|.)*)$", re.MULTILINE), check_command),
            "toml": (re.compile(r"^([\w-]+ *=.*)$", re.MULTILINE), check_key)}


def wrong_examples(page: Page, world: World) -> Iterator[Finding]:
    for begin, end, language in page.blocks():
        text = "\n".join(page.lines[begin:end])
        if language not in EXAMPLES or (language == "toml" and ("[[fault]]" in text or "[[host]]" in text)):
            continue
        pattern, check = EXAMPLES[language]
        for found in pattern.finditer(text):
            try:
                check(found[1], world)
            except Problem as problem:
                yield begin + 1 + text[:found.start()].count("\n"), str(problem)
