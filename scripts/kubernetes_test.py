#!/usr/bin/env python3
"""Checks the manifest of the documentation, apps/examples/kubernetes.yaml, as far as that goes without a cluster.

usage: kubernetes_test.py GOSSAMER

Its documents keep to the schemas of Kubernetes, its names fit together, and its containers' command trains, here on one
machine. Needs the package kubernetes-validate of PyPI, which brings the schemas; elsewhere it says so and ends with
status 77.
"""

import argparse
import copy
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from slurm_cluster import free_ports

MANIFEST = Path(__file__).resolve().parent.parent / "apps/examples/kubernetes.yaml"
SKIPPED = 77
RUN_S = 120
SMALL = "--data digits:samples=2000,test=500 --model mlp:hidden=32 --lr 0.1 --epochs 4"


def refuses(document: dict) -> str:
    """Returns the objection of the schemas of the newest known version. Empty if there is none."""
    import kubernetes_validate
    try:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as problem:
        return problem.message
    return ""


def wrong_names(service: dict, job: dict) -> list[str]:
    """Returns wrong names that no schema sees. Pods are called JOB-INDEX.SERVICE, and labelled with the job's name."""
    name, pods = job["metadata"]["name"], job["spec"]["template"]["spec"]
    command = " ".join(pods["containers"][0]["args"])
    wanted = {"the service selects the pods": service["spec"]["selector"] == {"job-name": name},
              "pods have names": service["spec"]["clusterIP"] == "None",
              "they belong to the service": pods["subdomain"] == service["metadata"]["name"],
              "they meet at the first": f"--rendezvous {name}-0.{service['metadata']['name']}:" in command,
              "all are there at a time": job["spec"]["parallelism"] == job["spec"]["completions"],
              "all are waited for": f"--nodes {job['spec']['completions']} " in command}
    return [what for what, holds in wanted.items() if not holds]


def run_pods(gossamer: Path, service: dict, job: dict) -> str:
    """Runs all pods as processes of this machine. Returns the failure; empty if there is none."""
    spec, port = job["spec"]["template"]["spec"]["containers"][0], free_ports()[0]
    token = secrets.token_hex(16)
    there = f"{job['metadata']['name']}-0.{service['metadata']['name']}:7000"
    command = " ".join(spec["args"]).replace(there, f"127.0.0.1:{port}")
    with tempfile.TemporaryDirectory(prefix="gossamer-pods-") as folder:
        pods = [subprocess.Popen([*spec["command"], f"{command} {SMALL} --out run"], cwd=folder, text=True,
                                 env={**os.environ, "PATH": f"{gossamer.parent}:{os.environ['PATH']}",
                                      "JOB_COMPLETION_INDEX": str(index), "GOSSAMER_TOKEN": token},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                for index in range(job["spec"]["completions"])]
        try:
            said = [pod.communicate(timeout=RUN_S)[0] for pod in pods]
        except subprocess.TimeoutExpired:
            return f"the pods have not ended within {RUN_S} s"
        finally:
            for pod in pods:
                pod.kill()
                pod.wait()
        if any(pod.returncode != 0 for pod in pods) or not Path(folder, "run/summary.json").exists():
            return "the pods failed: " + "\n".join(said)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gossamer", type=Path)
    gossamer = parser.parse_args().gossamer.resolve()
    try:
        import kubernetes_validate  # noqa: F401
        import yaml
    except ImportError as missing:
        print(f"kubernetes_test.py: skipped: {missing}; pip install kubernetes-validate brings it")
        sys.exit(SKIPPED)
    service, job = yaml.safe_load_all(MANIFEST.read_text())
    problems = [f"{document['kind']}: {why}" for document in (service, job) if (why := refuses(document))]
    misspelt = copy.deepcopy(job)
    misspelt["spec"]["template"]["spec"]["subdomian"] = "gossamer"
    if not refuses(misspelt):
        problems.append("the schemas let a misspelt key pass")
    problems += [f"not so: {what}" for what in wrong_names(service, job)]
    problems += filter(None, [run_pods(gossamer, service, job)])
    if problems:
        sys.exit("\n".join(problems))
    print("the manifest keeps to its schemas, and what it runs trains")


if __name__ == "__main__":
    main()
