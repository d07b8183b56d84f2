"""Reads the list of countersets from a server's registry with Samba's own client, and prints how many there are.

usage: /usr/bin/python3 samba_registry.py HOST PORT DOMAIN\\USER PASSWORD-FILE AT-LEAST   (needs Debian's python3-samba)
"""

import sys
import uuid

from samba import WERRORError, credentials, param
from samba.dcerpc import winreg

PROVIDERS = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\_V2Providers"
KEY_READ = 0x20019
NO_MORE_ITEMS = 259


def text(value: str) -> winreg.String:
    string = winreg.String()
    string.name = value
    return string


def room(size: int) -> winreg.StringBuf:
    buffer = winreg.StringBuf()
    buffer.name, buffer.size = "", 2 * size
    return buffer


def sub_keys(pipe: winreg.winreg, key) -> list[str]:
    names = []
    while True:
        try:
            name, _, _ = pipe.EnumKey(key, len(names), room(256), room(256), 0)
        except WERRORError as error:
            if error.args[0] != NO_MORE_ITEMS:
                raise
            return names
        names.append(name.name)


def main() -> None:
    host, port, account, password_file, at_least = sys.argv[1:]
    domain, user = account.split("\\")
    settings = param.LoadParm()
    settings.set("smb ports", port)
    settings.set("client min protocol", "SMB2_10")
    who = credentials.Credentials()
    who.guess(settings)
    who.set_domain(domain)
    who.set_username(user)
    with open(password_file, encoding="utf-8") as file:
        who.set_password(file.read().removesuffix("\n"))
    who.set_kerberos_state(credentials.DONT_USE_KERBEROS)
    pipe = winreg.winreg(f"ncacn_np:{host}[seal,smb2]", settings, who)
    machine = pipe.OpenHKLM(None, KEY_READ)
    providers = pipe.OpenKey(machine, text(PROVIDERS), 0, KEY_READ)
    found = []
    for provider in sub_keys(pipe, providers):
        key = pipe.OpenKey(providers, text(provider), 0, KEY_READ)
        found += [uuid.UUID(name) for name in sub_keys(pipe, key)]
        pipe.CloseKey(key)
    if len(set(found)) != len(found) or len(found) < int(at_least):
        sys.exit(f"{len(found)} countersets, {len(set(found))} different ones, {at_least} at least are expected")
    print(len(found))


if __name__ == "__main__":
    main()
