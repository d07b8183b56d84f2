#!/usr/bin/env python3
"""Compares data collector sets as XML with the same sets as our crate read and wrote them, by Python's own parser.

    same_sets.py ORIGINAL WRITTEN [ORIGINAL WRITTEN …]

Each element has to be there with its attributes and its text, below the same element. What may differ: the order of elements of
different names, white space around texts, and how a boolean, a date, a time, a number or a GUID is written. Prints how many
elements and attributes are alike.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

# Known properties whose texts have several forms.
BOOLEANS = {
    "Enabled", "CheckBeforeRunning", "EventLog", "FilterEnabled", "LogAppend", "LogCircular", "LogOverwrite",
    "PreallocateFile", "QueryNetworkAdapters", "SchedulesEnabled", "Segment", "StopOnCompletion", "TaskRunAsSelf",
}  # fmt: skip
DATES = {"StartDate", "EndDate"}


def canonical(tag, text):
    """A text in the one form that it is compared in."""
    text = (text or "").strip()
    if tag in BOOLEANS and text:
        return str(text.lower() not in ("0", "false"))
    if tag in DATES and text:
        return "/".join(str(int(part)) for part in text.split("/"))
    if tag == "StartTime" and text:
        hour, minute, second, half = re.fullmatch(r"(\d+):(\d+):(\d+) ?([AP]M)?", text).groups()
        hours = int(hour) if half is None else int(hour) % 12 + (12 if half == "PM" else 0)
        return f"{hours}:{int(minute)}:{int(second)}"
    if tag == "SampleInterval" and text:
        return str(int(text, 0))
    return text.upper() if tag == "Guid" else text


def by_tag(element):
    """The elements in an element, those of each name in their order."""
    return sorted(element, key=lambda inner: inner.tag)


def compare(original, written, path, has_forms=True):
    """How many elements and attributes are alike; ends where one is not."""
    where = f"{path}/{original.tag}"
    if (original.tag, original.attrib) != (written.tag, written.attrib):
        sys.exit(f"{where} is {written.tag} with {written.attrib}, and was {original.attrib}")
    # Reports and rules have schemas of their own.
    has_forms = has_forms and original.tag not in ("ReportSchema", "Rules")
    form = canonical if has_forms else lambda _tag, text: (text or "").strip()
    if form(original.tag, original.text) != form(written.tag, written.text):
        sys.exit(f"{where} has the text {written.text!r}, and had {original.text!r}")
    if [inner.tag for inner in by_tag(original)] != [inner.tag for inner in by_tag(written)]:
        sys.exit(f"{where} has {[inner.tag for inner in written]}, and had {[inner.tag for inner in original]}")
    inner = list(zip(by_tag(original), by_tag(written)))
    if any((before.tail or "").strip() != (after.tail or "").strip() for before, after in inner):
        sys.exit(f"{where} has other texts between its elements")
    alike = 1 + len(original.attrib)
    return alike + sum(compare(before, after, where, has_forms) for before, after in inner)


def root(path):
    """The document, whatever its declaration says of a file that was transcoded."""
    with open(path, "rb") as file:
        data = file.read()
    text = data.decode("utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data.decode("utf-8-sig")
    return ElementTree.fromstring(re.sub(r"^<\?xml.*?\?>", "", text.lstrip()))


def main():
    files = sys.argv[1:]
    pairs = list(zip(files[::2], files[1::2]))
    alike = sum(compare(root(original), root(written), "") for original, written in pairs)
    if not alike:
        sys.exit("nothing was compared")
    print(f"{len(pairs)} sets, {alike} elements and attributes alike")


if __name__ == "__main__":
    main()
