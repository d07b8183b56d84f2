"""Reads a tracker event by [MS-COMT] 2.2.5 and 3.2.5.1.1, and refuses whatever these do not allow."""

import struct
import uuid

COLLECTION = uuid.UUID("ECABAFCD-7F19-11D2-978E-0000F8757E2A")
OBJECT = uuid.UUID("ECABAFCE-7F19-11D2-978E-0000F8757E2A")
OBJREF_CUSTOM = 4
VERSION = 1
TEXT, OBJECTS, NUMBER = 0x08, 0x0D, 0x13
UNTRACKED = 0xFFFFFFFF

# By the type of a collection: what its objects are, and their properties.
PROPERTIES = {
    0: {
        "ProcessID": NUMBER,
        "ExeName": TEXT,
        "Paused": NUMBER,
        "Recycling": NUMBER,
        "IsService": NUMBER,
        "Applications": OBJECTS,
    },
    1: {
        "ApplicationID": TEXT,
        "ApplInstanceID": TEXT,
        "ApplicationType": NUMBER,
        "PartitionID": TEXT,
        "Name": TEXT,
        "Components": OBJECTS,
    },
    2: {
        "CLSID": TEXT,
        "Objects": NUMBER,
        "Activated": NUMBER,
        "Pooled": NUMBER,
        "InCall": NUMBER,
        "CallTime": NUMBER,
        "Name": TEXT,
    },
}


def read(data):
    """The processes of an event, each a dictionary of its properties."""
    reader = Reader(data)
    processes = reader.collection(0)
    if reader.data:
        raise ValueError(f"{len(reader.data)} bytes follow the event")
    return processes


class Reader:
    def __init__(self, data):
        self.data = data

    def take(self, size):
        if size > len(self.data):
            raise ValueError(f"{size} bytes are wanted, and {len(self.data)} are left")
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def numbers(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def objref(self, unmarshaler):
        """[MS-DCOM] 2.2.18.6, whose last number readers ignore."""
        signature, flags = self.numbers("4sI")
        self.take(16)
        clsid = uuid.UUID(bytes_le=self.take(16))
        extension, _ = self.numbers("II")
        if (signature, flags, clsid, extension) != (b"MEOW", OBJREF_CUSTOM, unmarshaler, 0):
            raise ValueError(f"an OBJREF has {signature}, flags {flags}, {clsid}, {extension} bytes of extensions")

    def version(self):
        found = self.numbers("HH")
        if found != (VERSION, VERSION):
            raise ValueError(f"a version is {found}")

    def name(self):
        [length] = self.numbers("I")
        if length == 0:
            raise ValueError("a name is empty")
        text = self.take(2 * length).decode("utf-16le")
        if text.endswith("\0"):
            raise ValueError(f"{text!r} ends in a NUL")
        return text

    def collection(self, kind):
        self.objref(COLLECTION)
        self.version()
        found, objects, names = self.numbers("III")
        if found != kind:
            raise ValueError(f"a collection is of type {found} and not {kind}")
        listed = [self.name() for _ in range(names)]
        if set(listed) - set(PROPERTIES[kind]):
            raise ValueError(f"a collection of type {kind} has properties {listed}")
        return [self.object(kind) for _ in range(objects)]

    def object(self, kind):
        self.objref(OBJECT)
        self.version()
        [count] = self.numbers("I")
        properties = [self.property(kind) for _ in range(count)]
        if sorted(name for name, _ in properties) != sorted(PROPERTIES[kind]):
            raise ValueError(f"an object of type {kind} has properties {[name for name, _ in properties]}")
        return dict(properties)

    def property(self, kind):
        self.version()
        name = self.name()
        self.version()
        own = self.name()
        [vt] = self.numbers("H")
        if own != name or PROPERTIES[kind].get(name) != vt:
            raise ValueError(f"property {name!r} has a value {own!r} of type {vt:#x}")
        if vt == TEXT:
            return name, self.name()
        if vt == OBJECTS:
            return name, self.collection(kind + 1)
        [number] = self.numbers("I")
        return name, None if number == UNTRACKED else number
