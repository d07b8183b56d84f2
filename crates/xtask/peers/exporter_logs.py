"""Reads the counter logs of an exporter that was killed in the middle of their segments and started again: the files with
pandas, and what psql and sqlite3 found in the tables. All have the same values at the same times.

Usage: exporter_logs.py FOLDER
"""

import csv
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

FOLDER = Path(sys.argv[1])
SEGMENT = 8
KEY = re.compile(r"^\\\\sim\\([^(\\]+)(?:\((.*)\))?\\([^\\]+)$")
# Of a segment by time, and the smallest size that ends a segment.
SEGMENT_TIME, SEGMENT_BYTES = pd.Timedelta(seconds=3), 1 << 20
# Its values fill the segments by size. They are in no other log, and too many for a frame to be quick.
WIDE = "Processor Information"
# The ending of the files, the first segment, and the header of the first column.
BY_RECORDS = {
    "Csv": ("csv", 1, "(PDH-CSV 4.0) (India Standard Time)(-330)"),
    "Tsv": ("tsv", 1, "(PDH-TSV 4.0) (Coordinated Universal Time)(0)"),
    "Parquet": ("parquet", 1, None),
    "Exported": ("csv", 7, "(PDH-CSV 4.0) (Coordinated Universal Time)(0)"),
}
# In the time zone of the set, files and folders have the start and the number of the segment in their names.
OTHER = {
    "Timed": ("csv", 1, "(PDH-CSV 4.0) (India Standard Time)(-330)"),
    "Sized": ("csv", 1, "(PDH-CSV 4.0) (Coordinated Universal Time)(0)"),
}
FILES = BY_RECORDS | OTHER
NAMES_OF_TIMED = re.compile(
    r"part-(?P<day>\d{7})_(?P<run>\d{6})"
    r"/sim_Types-(?P<short>\d\d)-(?P<time>\d{6})_(?P<number>\d{6})_(?P<minute>\d{8})\.csv"
)
TABLES = {"Lite": ("0", "Coordinated Universal Time"), "Warehouse": ("-330", "India Standard Time")}
SETS = [*FILES, *TABLES]
# Counters that have a value in the first record already.
MOMENTARY = {"Raw Count Hex", "Large Raw Count Hex", "Raw Count", "Large Raw Count", "Raw Fraction", "Large Raw Fraction"}
MOMENTARY |= {"Elapsed Time", "Available MBytes"}


class Log:
    """Values by time and counter. `firsts` are the times of the first records of its segments, `numbers` the serial numbers of
    these, and `sizes` the lengths of the lines of their files."""

    def __init__(self, name):
        self.name, self.records, self.firsts, self.segments = name, {}, set(), []
        self.numbers, self.sizes, self.headers = [], [], set()

    def add(self, records):
        times = [time for time, _ in records]
        assert times == sorted(set(times)), f"{self.name}: records are there twice or not in order: {times}"
        last = max(self.records, default=None)
        assert last is None or last < times[0], f"{self.name}: {times[0]} follows {last}"
        self.firsts.add(times[0])
        self.segments.append(times)
        self.records |= dict(records)


def key(counter_set, instance, counter):
    return counter_set, instance or "", counter


def read_text(path, separator, header):
    assert path.read_bytes().endswith(b"\r\n"), f"{path}: its last line is not whole"
    fields = {line.count(b'"' + separator.encode() + b'"') for line in path.read_bytes().splitlines()}
    assert len(fields) == 1, f"{path}: lines have {fields} separators"
    with path.open(newline="") as file:
        columns, _, *rows = csv.reader(file, delimiter=separator)
    wide = [place for place, column in enumerate(columns) if f"\\{WIDE}(" in column]
    assert all(row[place] != " " for row in rows for place in wide), f"{path}: values are missing"
    columns = [column for column in columns if f"\\{WIDE}(" not in column]
    frame = pd.read_csv(path, sep=separator, na_values=[" "], usecols=columns)
    assert frame.columns[0] == header, f"{path}: {frame.columns[0]}"
    minutes = int(header.rsplit("(", 1)[1].rstrip(")"))
    times = pd.to_datetime(frame[header], format="%m/%d/%Y %H:%M:%S.%f") + pd.Timedelta(minutes=minutes)
    keys = [key(*KEY.match(column).groups()) for column in frame.columns[1:]]
    assert len(set(keys)) == len(keys) > 100, path
    rows = frame.iloc[:, 1:].itertuples(index=False, name=None)
    return [
        (time, {name: value for name, value in zip(keys, row) if not pd.isna(value)})
        for time, row in zip(times, rows)
    ]


def read_parquet(path):
    frame = pd.read_parquet(path)
    assert set(frame["machine"]) == {"sim"}, path
    frame["time"] = frame["time"].dt.tz_localize(None).dt.floor("ms")
    records = []
    for time, rows in frame.groupby("time", sort=False):
        names = [key(*name) for name in zip(rows["object"], rows["instance"].fillna(""), rows["counter"])]
        assert len(set(names)) == len(names), f"{path}: a value is there twice at {time}"
        records.append((time, {name: value for name, value in zip(names, rows["value"]) if not pd.isna(value)}))
    return records


def number_of(run):
    """The number of a segment by the name of its folder."""
    return int(re.search(r"(?:-|_)(\d{6})$", run.name)[1])


def read_files(folder, name, skip_unfinished=False):
    ending, first, header = FILES[name]
    log = Log(name)
    runs = sorted((run for run in (folder / "sim" / name).iterdir() if run.is_dir()), key=number_of)
    log.numbers = [number_of(run) for run in runs]
    for run in runs:
        files = [file for file in run.iterdir() if not file.name.startswith((".", "report."))]
        if ending == "parquet":
            if not (skip_unfinished and run == runs[-1]):
                assert [file.name for file in files] == ["counters.parquet"], f"{run}: {files}"
                log.add(read_parquet(files[0]))
            continue
        assert len(files) == 1 and files[0].suffix == f".{ending}", f"{run}: {files}"
        log.add(read_text(files[0], "\t" if ending == "tsv" else ",", header))
        log.sizes.append([len(line) for line in files[0].read_bytes().splitlines(keepends=True)])
        log.headers.add(files[0].read_bytes().splitlines()[0])
        if name == "Timed":
            check_name(files[0], number_of(run), min(log.segments[-1]))
        else:
            stem = "Types" if name == "Exported" else "counters"
            assert files[0].stem == stem, f"{run}: {files}"
    assert len(log.headers) == (ending != "parquet"), f"{name}: its files have {len(log.headers)} headers"
    return log


def check_name(path, number, first):
    """A segment by time begins with its first record, whose time is in the names in the time zone of the set."""
    name = NAMES_OF_TIMED.fullmatch("/".join(path.parts[-2:]))
    assert name, path
    start = first + pd.Timedelta(minutes=330)
    expected = {
        "day": start.strftime("%Y%j"),
        "run": f"{number:06}",
        "short": f"{number:02}",
        "time": start.strftime("%H%M%S"),
        "number": f"{number:06}",
        "minute": start.strftime("%m%d%H%M"),
    }
    assert name.groupdict() == expected, (path, expected)


def read_table(moment, name, killed):
    """`killed` is how many records were there when the exporter was killed: it goes on in the same log."""
    log, records = Log(name), {}
    for line in (FOLDER / f"{moment}.{name}").read_text().splitlines():
        guid, minutes, zone, index, time, counter_set, instance, counter, value = line.split("|")
        assert (minutes, zone.rstrip()) == TABLES[name], line
        record = records.setdefault(int(index), (pd.Timestamp(time), {}))
        name_of = key(counter_set.rstrip(), instance.rstrip(), counter.rstrip())
        assert record[0] == pd.Timestamp(time) and name_of not in record[1], f"{name}: twice: {line}"
        record[1][name_of] = float(value)
    assert list(records) == list(range(1, len(records) + 1)), f"{name}: records {list(records)}"
    records = list(records.values())
    for segment in (records[:killed], records[killed:]) if killed else (records,):
        # [MS-PLA] 2.2.2.7: where files have blanks, tables have zeros.
        time, values = segment[0]
        rates = {name: value for name, value in values.items() if name[2] not in MOMENTARY}
        assert rates and not any(rates.values()), f"{name}: rates in the first record: {rates}"
        log.add([(time, {name: values[name] for name in values.keys() - rates.keys()}), *segment[1:]])
    return log


def read(moment, before=None):
    folder = FOLDER / ("files" if moment == "ended" else moment)
    logs = {name: read_files(folder, name, skip_unfinished=moment == "killed") for name in FILES}
    return logs | {name: read_table(moment, name, before and len(before[name].records)) for name in TABLES}


def metrics(moment):
    """Values of the page by name and labels."""
    values = {}
    for line in (FOLDER / f"{moment}.page").read_text().splitlines():
        if not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            name, labels = series.split("{", 1) if "{" in series else (series, "")
            values[name, frozenset(re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)
    return values


def close(one, other, tolerance=1e-14):
    return abs(one - other) <= tolerance * max(abs(one), abs(other))


def check_same(one, other):
    """At the times at which both log, they have the same records with the same values. Answers how many values."""
    compared = 0
    for mine, theirs in [(mine, theirs) for mine in runs_of(one) for theirs in runs_of(other)]:
        begin, end = max(mine[0], theirs[0]), min(mine[-1], theirs[-1])
        mine, theirs = ([time for time in times if begin <= time <= end] for times in (mine, theirs))
        assert mine == theirs, f"{one.name} and {other.name} have records at {set(mine) ^ set(theirs)}"
        for time in mine:
            ours, others = one.records[time], other.records[time]
            if time not in one.firsts | other.firsts:
                assert ours.keys() == others.keys(), (one.name, other.name, time, ours.keys() ^ others.keys())
            for name in ours.keys() & others.keys():
                assert close(ours[name], others[name]), (one.name, other.name, time, name, ours[name], others[name])
                compared += 1
    return compared


def runs_of(log):
    """The times of the records before and after the kill."""
    killed = [time for time in log.records if time <= KILLED]
    return [killed, [time for time in log.records if time > KILLED]]


def check_written(log, moment_log, page):
    """What the metrics called written when the exporter was killed is there, and was not changed afterwards."""
    labels = [labels for name, labels in page if name == "perfmon_pla_log_records_total" and ("set", log.name) in labels]
    written = page["perfmon_pla_log_records_total", labels[0]]
    there = len(runs_of(log)[0])
    assert written <= there <= written + 2, f"{log.name}: {written} records were written, {there} are there"
    for time, values in moment_log.records.items():
        assert log.records.get(time) == values, f"{log.name}: the record of {time} was changed"
    return there


def check_values(log, page):
    """Values that are known: constants by the metrics, rates by the formulas of the simulated host."""
    for time, values in log.records.items():
        is_first = time in log.firsts
        for n in "1234":
            number = float(n)
            metric = lambda name: page[f"perfmon_counter_types_{name}", frozenset({("target", "sim"), ("counter_instance", n)})]
            value = lambda counter: values[key("Counter Types", n, counter)]
            assert value("Raw Count Hex") == metric("raw_count_hex") == 3_235_774_464 + number
            assert close(value("Large Raw Count Hex"), metric("large_raw_count_hex"))
            assert value("Raw Count") // 100 == metric("raws") // 100 == number
            assert close(value("Raw Fraction"), 100 * metric("raw_fraction") / metric("raw_fraction_base"))
            share = metric("large_raw_fraction") / metric("large_raw_fraction_base")
            assert close(value("Large Raw Fraction"), 100 * share)
            started = pd.Timestamp(metric("elapsed_time_start_time_seconds"), unit="s")
            assert abs((time - started).total_seconds() - value("Elapsed Time")) < 2
            if not is_first:
                rate = 100 * number if number < 4 else 1e7
                assert close(value("Counter"), rate, 0.1), (log.name, time, n, value("Counter"))
                assert close(value("Bulk Count"), 1000 * rate, 0.1), (log.name, time, n, value("Bulk Count"))
                assert close(value("Timer"), 10 * number, 0.1), (time, n, value("Timer"))
                assert close(value("Timer Inverse"), 10 * number, 0.1), (time, n, value("Timer Inverse"))
        assert key("Memory", None, "Available MBytes") in values
        names = {counter for _, _, counter in values}
        assert not is_first or names == MOMENTARY, f"{log.name}: the first record has {names ^ MOMENTARY}"
        assert is_first or len(names) > 30, names


def check_numbers(log):
    """Segments have all numbers in turn. One that began when the exporter was killed may have had no record, and so no file."""
    first = FILES[log.name][1]
    missing = set(range(first, log.numbers[-1] + 1)) - set(log.numbers)
    killed = sum(times[-1] <= KILLED for times in log.segments)
    assert log.numbers[0] == first and missing <= {first + killed}, f"{log.name}: segments {log.numbers}"
    assert not missing or log.name in OTHER, f"{log.name}: segments {log.numbers}"


def whole_segments(log):
    """The places of the segments that ended by themselves: not by the kill, or with the exporter."""
    return [
        index
        for index, (times, following) in enumerate(zip(log.segments, log.segments[1:]))
        if (times[-1] <= KILLED) == (following[0] <= KILLED)
    ]


def check_timed(log):
    """Segments by time begin one after another, each with the first record at or after its time."""
    places = whole_segments(log)
    assert len(places) >= 4, f"{log.name}: {log.segments}"
    for index in places:
        took = log.segments[index + 1][0] - log.segments[index][0]
        assert abs(took - SEGMENT_TIME) < pd.Timedelta(seconds=1.5), f"{log.name}: a segment took {took}: {log.segments}"
        assert log.segments[index][-1] - log.segments[index][0] < SEGMENT_TIME + pd.Timedelta(seconds=1.5), log.segments


def check_sized(log):
    """A file ends when it has its size: it was smaller before the last two records, of which one is written meanwhile."""
    places = whole_segments(log)
    assert len(places) >= 2, f"{log.name}: {log.segments}"
    for index in places:
        lines = log.sizes[index]
        assert len(lines) > 3 and sum(lines) >= SEGMENT_BYTES > sum(lines[:-2]), f"{log.name}: {lines}"


def check_report(log, segment):
    """The figures of a report are those of pandas over the file beside it."""
    ending, first, _ = FILES[log.name]
    (report,) = (FOLDER / "files/sim" / log.name).glob(f"*-{first + segment:06}/report.xml")
    frame = pd.DataFrame([log.records[time] for time in log.segments[segment]])
    figures = 0
    for table in ElementTree.parse(report).getroot().iter("Table"):
        for item in table.iter("Item") if table.get("object") else ():
            data = {one.get("name"): one.text for one in item.iter("Data")}
            values = frame[key(table.get("object"), data.get("instance"), data["counter"])].dropna()
            for figure in ("mean", "min", "max"):
                assert close(float(data[figure]), getattr(values, figure)(), 1e-9), (report, data, values.describe())
                figures += 1
    assert figures >= 3 * frame.shape[1], f"{report}: {figures} figures of {frame.shape[1]} columns"
    return figures


page = metrics("killed")
killed = read("killed")
ended = read("ended", killed)
KILLED = max(max(log.records) for log in killed.values())
for name in SETS:
    assert KILLED < max(ended[name].records), f"{name}: nothing follows"
there = sum(check_written(ended[name], killed[name], page) for name in SETS)
segments = {name: [len(times) for times in log.segments] for name, log in ended.items()}
for name in BY_RECORDS:
    assert len(segments[name]) > 3 and segments[name][0] == segments[name][2] == SEGMENT, segments
    assert segments[name][1] < SEGMENT, f"{name} was not killed within a segment: {segments}"
for name in TABLES:
    assert len(segments[name]) == 2, f"{name}: {segments}"
for name in FILES:
    check_numbers(ended[name])
check_timed(ended["Timed"])
check_sized(ended["Sized"])
for log in ended.values():
    check_values(log, page)
compared = sum(check_same(ended["Tsv"], ended[name]) for name in SETS if name != "Tsv")
figures = sum(check_report(ended[name], 0) for name in ("Csv", "Exported", "Parquet"))
print(f"{compared} values alike in {len(SETS)} logs, {there} records before a kill, {figures} figures of reports")
