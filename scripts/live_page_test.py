#!/usr/bin/env python3
"""Works the live page of real runs in a browser: looks, clicks on faults, and reads what follows.

usage: live_page_test.py GOSSAMER [--pictures DIR]

Needs Chromium with its driver, and the package selenium (Debian: chromium-driver, python3-selenium); elsewhere it says
so and ends with status 77. --pictures keeps screenshots.
"""

import argparse
import contextlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SKIPPED = 77
PATIENCE_S = 60
WIDTHS = (1440, 768, 360)
UNNAMED = """return [...document.querySelectorAll('input, select, button, canvas, progress, a')]
  .filter(e => e.checkVisibility() && !e.parentElement.closest('[role=img]'))
  .filter(e => !(e.labels?.length || e.textContent.trim() || e.ariaLabel)).map(e => e.outerHTML)"""
OTHER_HOSTS = """return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin))"""


class Run:
    """A command with a live page, and what it has written."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors = ""
        for line in self.process.stderr:
            self.errors += line
            if found := re.search(r"https?://[^\s,]+", line):
                self.url = found.group(0)
                break
        else:
            raise AssertionError(f"no page: {self.errors}")
        self.reader = threading.Thread(target=self._read_errors)
        self.reader.start()

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def end(self, expected_status: int = 0) -> str:
        """Waits for the end. Returns standard output."""
        output = self.process.stdout.read()
        status = self.process.wait()
        self.reader.join()
        assert status == expected_status, f"status {status}: {self.errors[-2000:]}"
        return output

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join()


class Page:
    """The page in a browser of its own."""

    def __init__(self, url: str = "", width: int = WIDTHS[0]):
        from selenium import webdriver
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},1400"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=webdriver.chrome.service.Service(shutil.which("chromedriver")),
                                       options=options)
        if url:
            self.driver.get(url)

    def text(self, element: str) -> str:
        return self.driver.execute_script("return document.getElementById(arguments[0]).innerText", element)

    def wait(self, what: str, happens, within_s: float = PATIENCE_S) -> None:
        ends = time.monotonic() + within_s
        while not happens():
            assert time.monotonic() < ends, f"{what}: not within {within_s} s; events: {self.text('events')}"
            time.sleep(0.1)

    def wait_for_event(self, words: str) -> None:
        self.wait(f"the event '{words}'", lambda: words in self.text("events"))

    def number(self, name: str) -> str:
        return self.driver.execute_script(
            "return [...document.querySelectorAll('#numbers dt')].find(e => e.textContent === arguments[0])"
            "?.nextSibling.textContent ?? ''", name)

    def fill(self, element: str, value: str) -> None:
        self.driver.execute_script("const e = document.getElementById(arguments[0]); e.value = arguments[1];"
                                   "e.dispatchEvent(new Event('change'))", element, value)

    def strike(self, kind: str, workers: str, to: str = "", lasts: str = "") -> str:
        """Fills the form in, and clicks on its button. Returns the answer."""
        self.wait("the form", lambda: kind in self.text("order-kind"))
        for element, value in (("order-kind", kind), ("order-workers", workers), ("order-to", to), ("order-lasts", lasts)):
            self.fill(element, value)
        self.fill("order-answer", "")
        self.driver.execute_script("document.getElementById('order-answer').textContent = ''")
        self.click("#order-form button[type=submit]")
        self.wait("an answer", lambda: self.text("order-answer") != "")
        return self.text("order-answer")

    def states(self) -> list[str]:
        return self.driver.execute_script("return [...document.getElementById('table').rows].map(r => r.cells[2].textContent)")

    def at_work(self) -> int:
        """The number of workers that compute, or wait for others."""
        return sum(state.startswith(("computing", "waiting for")) for state in self.states())

    def stands_still(self) -> bool:
        """True if the time of a simulation is the same a second later."""
        before = self.number("time")
        time.sleep(1)
        return self.number("time") == before

    def count(self, selector: str) -> int:
        return self.driver.execute_script("return document.querySelectorAll(arguments[0]).length", selector)

    def click(self, selector: str) -> None:
        self.driver.find_element("css selector", selector).click()

    def problems(self) -> list[str]:
        """Errors of the console, requests to other hosts, and controls without a name."""
        errors = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return errors + self.driver.execute_script(OTHER_HOSTS) + self.driver.execute_script(UNNAMED)

    def __enter__(self):
        return self

    def crash(self) -> None:
        """Ends the browser without a farewell to anybody."""
        from selenium.common.exceptions import WebDriverException
        with contextlib.suppress(WebDriverException):
            self.driver.execute_cdp_cmd("Browser.crash", {})

    def __exit__(self, *_):
        self.driver.quit()


def expect(holds: bool, what: str) -> None:
    assert holds, what
    print(f"ok: {what}", flush=True)


def look_at(page: Page, name: str, pictures: Path | None) -> None:
    """Takes pictures at all widths; at none the page is wider than the window."""
    for width in WIDTHS:
        page.driver.set_window_size(width + (16 if width < 500 else 0), 2600 if width < 500 else 1500)
        time.sleep(0.5)
        wide, window = page.driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        expect(wide <= window, f"{name}: {wide} of {window} pixels wide")
        if pictures:
            page.driver.save_screenshot(str(pictures / f"{name}-{width}.png"))
    page.driver.set_window_size(WIDTHS[0], 1400)


def watch_training(gossamer: Path, folder: Path, pictures: Path | None) -> None:
    command = [str(gossamer), *"train --algorithm ad-psgd --workers 16 --seconds 1000 --eval-every 0.5".split(),
               *"--live 0 --live-control --out".split(), str(folder / "trained")]
    with Run(command) as run, Page(run.url) as page:
        page.wait("all workers", lambda: page.at_work() == 16)
        expect(True, "16 workers appear")
        before = page.number("epoch")
        page.wait("progress", lambda: page.number("epoch") not in ("", before))
        expect(page.count(".plot canvas") >= 4, "curves are drawn")
        page.wait("rates of links", lambda: page.count("#links tr") > 0)
        page.wait("the use of time", lambda: page.count("#table .shares[aria-label*=computing]") == 16)
        expect(True, "links have rates, and every worker has a bar of its time")
        # Both faults last until the click that heals: a busy browser draws seconds late, and would miss shorter ones.
        expect("tenth of a second" in page.strike("kill", "3", lasts="900"), "a kill is taken")
        page.wait_for_event("worker 3 is lost; 15 go on")
        page.wait("the row of worker 3", lambda: page.states()[3] == "lost")
        expect(True, "worker 3 dies, and is shown as lost")
        expect("allowed: 0 to 15" in page.strike("kill", "99"), "a worker that does not exist is refused")
        refused = [e for e in page.problems() if "400" not in e]
        expect(refused == [], f"no other error on the console: {refused}")
        page.strike("partition", "0, 1", "8, 9", "900")
        page.wait_for_event("nothing gets from workers 0 and 1")
        page.click("#heal")
        page.wait_for_event("worker 3 comes back")
        page.wait_for_event("ends: nothing gets from workers 0 and 1")
        expect(True, "all faults are healed by a click")
        with Page(run.url) as second:
            second.wait_for_event("worker 3 comes back")
            second.driver.execute_script("location.reload()")
            second.wait_for_event("worker 3 comes back")
            expect(second.problems() == [], f"a second browser, and a page loaded again, see all: {second.problems()}")
            second.crash()
        look_at(page, "train", pictures)
        run.interrupt()  # a run of so many seconds would be over before a busy machine has a browser
        page.wait("the end", lambda: "has ended" in page.text("state"))
        run.end(expected_status=130)
    expect((folder / "trained/faults.toml").read_text().count("[[fault]]") == 2, "the faults are kept as a plan")


def hold_simulation(gossamer: Path, folder: Path, pictures: Path | None) -> None:
    simulate = [str(gossamer), "simulate"]
    command = [*simulate, *"--algorithm d-psgd --workers 32 --topology torus --steps 100 --network wan --trace no".split(),
               *"--eval-every 1 --live 0 --live-control --out".split(), str(folder / "struck")]
    hash_of = re.compile(r"trace hash (\w+)")
    with Page() as page, Run(command) as run:  # a browser takes as long to start as the simulation to end
        page.driver.get(run.url)
        page.wait("the form", lambda: page.text("order-kind") != "")
        page.click("[data-order=hold]")
        page.wait("the answer", lambda: "waits" in page.text("order-answer"))
        page.wait("the hold", page.stands_still)
        held = page.number("time")
        expect(held != "" and page.stands_still(), f"the simulation is held at {held}")
        page.strike("kill", "7", lasts="1")
        page.click("[data-order=step]")
        page.wait("a step", lambda: page.number("time") != held)
        page.click("[data-order='go on']")
        page.wait_for_event("worker 7 comes back")
        page.wait("waits", lambda: " s for worker " in page.text("waits-section"))
        expect(page.count("#links tr") > 0 and page.count("#table .shares") == 32, "waits, links and the use of time are shown")
        look_at(page, "simulate", pictures)
        page.wait("the end", lambda: "has ended" in page.text("state"))
        expect(page.problems() == [], f"no error on the console: {page.problems()}")
        struck = hash_of.search(run.end()).group(1)
    again = subprocess.run([*simulate, "--config", folder / "struck/config.toml", "--out", folder / "again", "--trace", "no"],
                           capture_output=True, text=True, check=True).stdout
    expect(hash_of.search(again).group(1) == struck, f"the plan repeats the run to the same hash, {struck}")


def kill_the_leader(gossamer: Path, folder: Path, pictures: Path | None) -> None:
    command = [str(gossamer), *"launch --hosts localhost:4 --live 0 --live-control --".split(),
               *"train --algorithm ad-psgd --workers 8 --seconds 1000 --eval-every 0.5 --out".split(), str(folder / "led")]
    with Run(command) as run, Page(run.url) as page:
        page.wait("all workers", lambda: page.at_work() == 8)
        page.strike("kill", "99")
        page.wait_for_event("refused: the order:1: workers of kill names 99")
        page.strike("kill process", "")
        page.wait_for_event("leads the run from now on")
        before = page.number("epoch")
        page.wait("progress under the next leader", lambda: page.number("epoch") != before)
        expect(True, "the page survives the leader, which a click has killed")
        page.strike("kill", "5", lasts="1")
        page.wait_for_event("worker 5 is lost")
        page.wait_for_event("worker 5 comes back")
        expect(True, "the next leader strikes workers, too")
        page.wait("rates of links", lambda: page.count("#links tr") > 0)
        look_at(page, "launch", pictures)
        look_on(gossamer, folder / "led", page)
        run.interrupt()
        page.wait("the end", lambda: "has ended" in page.text("state"))
        expect(page.problems() == [], f"no error on the console: {page.problems()}")
        run.end(expected_status=130)
    expect((folder / "led/report.html").exists(), "whoever leads in the end writes the report")


def look_on(gossamer: Path, folder: Path, page: Page) -> None:
    """Watches a launched run from elsewhere, and goes without a word."""
    leader = re.search(r"leader = '(.*)'", (folder / "launch.toml").read_text()).group(1)
    with Run([str(gossamer), "watch", leader]) as watch, Page(watch.url) as elsewhere:
        elsewhere.wait("all workers that are left", lambda: elsewhere.at_work() >= 5)
        elsewhere.wait("rates of links", lambda: elsewhere.count("#links tr") > 0)
        before = elsewhere.number("epoch")
        elsewhere.wait("progress", lambda: elsewhere.number("epoch") not in ("", before))
        expect(elsewhere.problems() == [], f"a page elsewhere shows the same run: {elsewhere.problems()}")
    before = page.number("epoch")
    page.wait("progress", lambda: page.number("epoch") != before)
    expect("lost" not in page.text("events").splitlines()[0], "the run loses nothing with who looks on")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gossamer", type=Path)
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    try:
        import selenium  # noqa: F401
    except ImportError:
        print("skipped: there is no package selenium (Debian: python3-selenium)")
        return SKIPPED
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: there is no Chromium with its driver (Debian: chromium-driver)")
        return SKIPPED
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gossamer-live-") as folder:
        for part in (watch_training, hold_simulation, kill_the_leader):
            part(given.gossamer.resolve(), Path(folder), given.pictures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
