#!/usr/bin/env python3
"""Reads the list of countersets from a server's registry with impacket, and judges what it finds.

    impacket_rrp.py --host 127.0.0.1 --port 4450 --account 'CORP\\svc-metrics' --password-file /run/secrets/password
    impacket_rrp.py … --at-least 257        fails where fewer are listed, or where one is listed twice

Prints one JSON object.
"""

import argparse
import json
import sys
import uuid

from impacket.dcerpc.v5 import rrp, transport
from impacket.dcerpc.v5.rpcrt import RPC_C_AUTHN_LEVEL_PKT_PRIVACY, DCERPCException

PROVIDERS = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\_V2Providers"
NO_MORE_ITEMS, FILE_NOT_FOUND = 259, 2


def sub_keys(dce, key):
    """The names by index, until the server says that there are no more; and as many as it says beforehand."""
    request = rrp.BaseRegQueryInfoKey()
    request["hKey"] = key
    count = dce.request(request)["lpcSubKeys"]
    names = []
    while True:
        try:
            names.append(rrp.hBaseRegEnumKey(dce, key, len(names))["lpNameOut"].rstrip("\0"))
        except DCERPCException as error:
            if error.get_error_code() != NO_MORE_ITEMS:
                raise
            break
    assert len(names) == count, f"{len(names)} subkeys instead of {count}"
    return names


def read(dce):
    root = rrp.hOpenLocalMachine(dce)["phKey"]
    providers = rrp.hBaseRegOpenKey(dce, root, PROVIDERS, 0, rrp.KEY_READ)["phkResult"]
    found = {}
    for provider in sub_keys(dce, providers):
        key = rrp.hBaseRegOpenKey(dce, providers, provider, 0, rrp.KEY_READ)["phkResult"]
        found[uuid.UUID(provider)] = [uuid.UUID(name) for name in sub_keys(dce, key)]
        rrp.hBaseRegCloseKey(dce, key)
    try:
        rrp.hBaseRegOpenKey(dce, root, "SOFTWARE\\Nothing", 0, rrp.KEY_READ)
        raise AssertionError("a key is opened that is not there")
    except DCERPCException as error:
        assert error.get_error_code() == FILE_NOT_FOUND, error
    for key in (providers, root):
        rrp.hBaseRegCloseKey(dce, key)
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("host", "port", "account", "password-file"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--at-least", type=int, default=1)
    arguments = parser.parse_args()
    domain, user = arguments.account.split("\\")
    password = open(arguments.password_file, encoding="utf-8").read().removesuffix("\n")
    pipe = transport.DCERPCTransportFactory(f"ncacn_np:{arguments.host}[\\pipe\\winreg]")
    pipe.set_dport(int(arguments.port))
    pipe.set_credentials(user, password, domain)
    dce = pipe.get_dce_rpc()
    dce.set_auth_level(RPC_C_AUTHN_LEVEL_PKT_PRIVACY)
    dce.connect()
    dce.bind(rrp.MSRPC_UUID_RRP)
    found = read(dce)
    sets = [guid for guids in found.values() for guid in guids]
    problems = []
    if len(sets) < arguments.at_least:
        problems.append(f"{len(sets)} countersets instead of {arguments.at_least} or more")
    if len(set(sets)) != len(sets):
        problems.append("a counterset is listed twice")
    print(json.dumps({"providers": len(found), "countersets": len(sets), "problems": problems}))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
