#!/usr/bin/env python3
"""Fetches every value of every counterset with impacket and prints them, so that another client can be compared.

    impacket_values.py --host 127.0.0.1 --port 4450 --account 'CORP\\svc-metrics' --password-file /run/secrets/password

Prints one JSON object: the clocks of the reply's header, and a list of values, each with counterset, instance, its
number, counter, whether the counter is not to be displayed, and the raw number. A counterset whose registration is refused is left out and named. The structures
are unpacked by impacket_pcq.py, which shares no code with this project's clients.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testing/windows-sim/tests/peers"))

import impacket_pcq as pcq

MULTIPLE, NO_DISPLAYABLE = 2, 2


def registrations(perflib):
    """The countersets that tell what is in them: GUID, English name, whether instances have names,
    counter names, and which counters are not to be displayed."""
    found, refused = [], []
    for guid in perflib.countersets():
        (status, data), (_, name), (named, names) = (perflib.registration(guid, code) for code in (1, 9, 10))
        if status != pcq.SUCCESS or named != pcq.SUCCESS:
            refused.append(str(guid))
            continue
        instance_type = int.from_bytes(data[28:32], "little")
        counters = [pcq.parse_counter(data[at:at + 48]) for at in range(32, len(data), 48)]
        hidden = {counter["id"] for counter in counters if counter["attrib"] & NO_DISPLAYABLE}
        found.append((guid, pcq.wide(name), instance_type & MULTIPLE != 0, pcq.parse_strings(names), hidden))
    return found, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, default=445)
    parser.add_argument("--account", required=True, help=r"DOMAIN\user")
    parser.add_argument("--password-file", required=True)
    arguments = parser.parse_args()
    arguments.level, arguments.interface = "privacy", "pcq"
    dce, _ = pcq.connect(arguments)
    perflib = pcq.Perflib(dce, arguments.host)
    sets, refused = registrations(perflib)
    handle = perflib.call(pcq.OpenQuery)["hQuery"]
    identifiers = [pcq.identifier(guid, pcq.ALL, "*" if has_names else None) for guid, _, has_names, _, _ in sets]
    added = perflib.validate(handle, identifiers)
    index_of = {found["key"][0]: found["index"] for found in pcq.parse_identifiers(perflib.data(pcq.QueryInfo, hQuery=handle))}
    clocks, blocks = pcq.parse_data(perflib.data(pcq.QueryData, hQuery=handle))
    values = []
    for found, (guid, counterset, _, names, hidden) in zip(added, sets):
        if found["status"] != pcq.SUCCESS or guid not in index_of:
            refused.append(str(guid))
            continue
        _, _, ids, instances = blocks[index_of[guid]]
        for instance, row in instances.items():
            name, number = instance if instance else (None, None)
            for counter, value in zip(ids, row):
                if isinstance(value, int):
                    values.append({
                        "counterset": counterset, "instance": name, "instance_id": number,
                        "counter": names.get(counter), "counter_id": counter, "hidden": counter in hidden, "value": value,
                    })
    print(json.dumps({"clocks": clocks, "refused": refused, "values": values}))


if __name__ == "__main__":
    main()
