"""Reads a page of metrics with Prometheus' own parser and prints how many samples it holds.

usage: read_page.py classic|openmetrics FILE
"""

import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as classic


def main() -> None:
    form, path = sys.argv[1:]
    with open(path, encoding="utf-8", newline="") as page:
        text = page.read()
    parse = {"classic": classic, "openmetrics": openmetrics}[form]
    samples = set()
    count = 0
    for family in parse(text):
        for sample in family.samples:
            samples.add((sample.name, tuple(sorted(sample.labels.items()))))
            count += 1
    if len(samples) != count:
        sys.exit(f"{count - len(samples)} samples stand on the page twice")
    print(count)


if __name__ == "__main__":
    main()
