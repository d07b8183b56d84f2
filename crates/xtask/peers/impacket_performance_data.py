#!/usr/bin/env python3
"""Reads performance data and keys of a host's registry with impacket, and prints them.

    impacket_performance_data.py --host 127.0.0.1 --port 4450 --account 'CORP\\svc-metrics' --password-file FILE
        --objects '2 238' --key 'SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion'
    KRB5CCNAME=FILE impacket_performance_data.py --host web1.corp.example.com --address 127.0.0.1 --port 4450 --account 'REALM\\svc-metrics' --kerberos
        --objects '2'

impacket brings SMB, NTLM, RPC, NDR and the methods of [MS-RRP]; the structures of winperf.h are unpacked here, and not by
any code of this project. Prints one JSON object: the header, the names by index, the objects with counters, instances and
values, and the values of each key. Fails where lengths do not add up.
"""

import argparse
import json
import struct
import sys

from impacket.dcerpc.v5 import rrp, transport
from impacket.dcerpc.v5.rpcrt import (
    RPC_C_AUTHN_GSS_NEGOTIATE,
    RPC_C_AUTHN_LEVEL_PKT_PRIVACY,
    DCERPCException,
)

NO_MORE_ITEMS, FILE_NOT_FOUND = 259, 2
ROOM = 1 << 18
HEADER = struct.Struct("<8s6Ii8H4xQQQII")
OBJECT = struct.Struct("<9IiiIQQ")
COUNTER = struct.Struct("<5Ii4I")
INSTANCE = struct.Struct("<3IiII")


def text(data):
    return data.decode("utf-16le").split("\0")[0]


def names(table):
    """Pairs of an index and its text."""
    parts = table.split("\0")
    end = parts.index("")
    assert end % 2 == 0, "an index has no text"
    return dict(zip(parts[0:end:2], parts[1:end:2]))


def read_block(data, at, counters):
    """The values of a PERF_COUNTER_BLOCK, and where it ends."""
    (length,) = struct.unpack_from("<I", data, at)
    values = []
    for counter in counters:
        begin = at + counter["offset"]
        assert counter["offset"] + counter["size"] <= length, "a value leads out of its block"
        values.append(int.from_bytes(data[begin:begin + counter["size"]], "little") if counter["size"] else None)
    return values, at + length


def read_object(data, at):
    (total, definition, header, name, _, help_index, _, detail, count, default, instances, code_page, perf_time,
     perf_freq) = OBJECT.unpack_from(data, at)
    assert header == OBJECT.size and code_page == 0
    counters, place = [], at + header
    for _ in range(count):
        (length, index, _, help_of, _, scale, level, kind, size, offset) = COUNTER.unpack_from(data, place)
        counters.append({"index": index, "help": help_of, "scale": scale, "detail": level, "type": kind, "size": size,
                         "offset": offset})
        place += length
    assert place == at + definition, "the counters end elsewhere than the definition"
    found = []
    if instances == -1:
        values, place = read_block(data, place, counters)
        found.append({"name": None, "values": values})
    for _ in range(max(instances, 0)):
        length, _, _, _, name_offset, name_length = INSTANCE.unpack_from(data, place)
        label = text(data[place + name_offset:place + name_offset + name_length])
        values, place = read_block(data, place + length, counters)
        found.append({"name": label, "values": values})
    assert place == at + total, "the instances end elsewhere than the object"
    for counter in counters:
        del counter["size"], counter["offset"]
    return {"index": name, "help": help_index, "detail": detail, "default_counter": default, "perf_time": perf_time,
            "perf_freq": perf_freq, "counters": counters, "instances": found}, at + total


def read_data(data):
    fields = HEADER.unpack_from(data)
    signature, little_endian, _, _, total, header, count = fields[:7]
    perf_time, perf_freq, now, name_length, name_offset = fields[16:]
    assert signature.decode("utf-16le") == "PERF" and little_endian == 1 and total == len(data)
    objects, at = [], header
    for _ in range(count):
        read, at = read_object(data, at)
        objects.append(read)
    assert at == total, "the objects end elsewhere than the data"
    return {"system_name": text(data[name_offset:name_offset + name_length]), "perf_time": perf_time,
            "perf_freq": perf_freq, "time_100ns": now, "objects": objects}


def read_key(dce, root, path):
    """The values by name: what impacket unpacks, and for bytes their digits."""
    key = rrp.hBaseRegOpenKey(dce, root, path)["phkResult"]
    values = {}
    while True:
        try:
            found = rrp.hBaseRegEnumValue(dce, key, len(values), 4096)
        except DCERPCException as error:
            if error.get_error_code() != NO_MORE_ITEMS:
                raise
            break
        name = found["lpValueNameOut"].rstrip("\0")
        kind, value = rrp.hBaseRegQueryValue(dce, key, name)
        assert kind == found["lpType"] and value == rrp.unpackValue(kind, found["lpData"]), name
        values[name] = [kind, value.hex() if isinstance(value, bytes) else value]
    rrp.hBaseRegCloseKey(dce, key)
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("host", "port", "account", "objects"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--address", help="where the host is reached, if not by its name")
    logon = parser.add_mutually_exclusive_group(required=True)
    logon.add_argument("--password-file")
    logon.add_argument("--kerberos", action="store_true", help="with the tickets of the cache that KRB5CCNAME names")
    parser.add_argument("--key", action="append", default=[])
    arguments = parser.parse_args()
    domain, user = arguments.account.split("\\")
    password = ""
    if arguments.password_file:
        password = open(arguments.password_file, encoding="utf-8").read().removesuffix("\n")
    pipe = transport.DCERPCTransportFactory(f"ncacn_np:{arguments.host}[\\pipe\\winreg]")
    pipe.set_dport(int(arguments.port))
    pipe.setRemoteHost(arguments.address or arguments.host)
    pipe.set_credentials(user, password, domain)
    pipe.set_kerberos(arguments.kerberos)
    dce = pipe.get_dce_rpc()
    if arguments.kerberos:
        dce.set_auth_type(RPC_C_AUTHN_GSS_NEGOTIATE)
    dce.set_auth_level(RPC_C_AUTHN_LEVEL_PKT_PRIVACY)
    dce.connect()
    dce.bind(rrp.MSRPC_UUID_RRP)

    data = rrp.hOpenPerformanceData(dce)["phKey"]
    printed = read_data(rrp.hBaseRegQueryValue(dce, data, arguments.objects, ROOM)[1])
    printed["names"] = names(rrp.hBaseRegQueryValue(dce, data, "Counter 009", ROOM)[1])
    try:
        rrp.hBaseRegQueryValue(dce, data, "Nothing", ROOM)
        raise AssertionError("a value is answered that is not there")
    except DCERPCException as error:
        assert error.get_error_code() == FILE_NOT_FOUND, error
    root = rrp.hOpenLocalMachine(dce)["phKey"]
    printed["keys"] = {path: read_key(dce, root, path) for path in arguments.key}
    print(json.dumps(printed))


if __name__ == "__main__":
    sys.exit(main())
