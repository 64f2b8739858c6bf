import { Curves } from "./report_curves.js";
import { report } from "./report_runs.js";
import { aboutRuns, blameOf, commandsOf, finalNumbers, settingsOf } from "./report_tables.js";
import { timesOf } from "./report_times.js";

const by = id => document.getElementById(id);

aboutRuns(by("title"), by("about"));
finalNumbers(by("numbers-section"));
settingsOf(by("settings-section"));
timesOf(by("times-section"));
blameOf(by("blame-section"));
commandsOf(by("commands-section"));
by("made-by").textContent = `Made by gossamer ${report.version}.`;

const curves = new Curves(by("curves"));
curves.offerAxes(by("axes"));
curves.offerRuns(by("shown-runs"));
curves.offerMarks(by("shown-marks"));
curves.draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => curves.draw());
