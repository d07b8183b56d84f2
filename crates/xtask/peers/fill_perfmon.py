"""Fills the two databases from which Samba answers queries for HKEY_PERFORMANCE_DATA.

usage: /usr/bin/python3 fill_perfmon.py STATE_FOLDER INSTANCES   (needs Debian's python3-tdb)

One object with one counter and so many instances, so that the answer takes many RPC fragments.
"""

import os
import sys

import tdb

OBJECT, COUNTER = 2, 4
LARGE_RAWCOUNT = 0x00010100


def database(folder: str, name: str) -> tdb.Tdb:
    return tdb.Tdb(os.path.join(folder, name), 0, tdb.DEFAULT, os.O_RDWR | os.O_CREAT, 0o644)


def put(where: tdb.Tdb, key: str, value: str | bytes) -> None:
    where.store(key.encode(), value if isinstance(value, bytes) else value.encode())


def main() -> None:
    folder, instances = os.path.join(sys.argv[1], "perfmon"), int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    names, data = database(folder, "names.tdb"), database(folder, "data.tdb")
    put(names, "1", "2")
    put(names, "0PerfFreq", "10000000")
    put(data, "0PerfTime", "1000")
    put(data, "0PerfTime100nSec", "2000")
    for key, name, text, relation in (
        (OBJECT, "Compared Object", "An object for the tests", "p"),
        (COUNTER, "Compared Counter", "A counter for the tests", f"c[{OBJECT}]"),
    ):
        put(names, str(key), name)
        put(names, str(key + 1), text)
        put(names, f"{key}rel", relation)
    put(names, f"{COUNTER}type", str(LARGE_RAWCOUNT))
    put(data, str(COUNTER), "7")
    put(names, f"{OBJECT}inst", str(instances))
    for number in range(instances):
        put(names, f"{OBJECT}i{number}name", f"instance {number}")
        put(data, f"{OBJECT}i{number}", number.to_bytes(8, "little"))
    names.close()
    data.close()


if __name__ == "__main__":
    main()
