"""Reads the logs that the example of counter-log writes with pandas, pyarrow and DuckDB, and compares them with what was invented.

Usage: read_logs.py FOLDER
"""

import sys
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow.parquet as pq

RECORDS = 7_200
START = pd.Timestamp("2026-01-31T22:59:00Z")
COLUMNS = [
    (r"\\WEB1\Memory\Pages/sec", ("Memory", None, None, 0, "Pages/sec")),
    (r"\\WEB1\Thread(svchost/3)\% Processor Time", ("Thread", "svchost", "3", 0, "% Processor Time")),
    (r"\\WEB1\Process(svchost#1)\Working Set", ("Process", None, "svchost", 1, "Working Set")),
    (
        '\\\\WEB1\\Netzwerkadapter(Größe, "quoted")\\Bytes/s',
        ("Netzwerkadapter", None, 'Größe, "quoted"', 0, "Bytes/s"),
    ),
]


def invented(record, column):
    if (record + column) % 5 == 0:
        return None
    number = float(record * 4 + column)
    return [number / 7.0, number * 1e-9, number * 1e12, -number][column]


def expected(column):
    times = [START + pd.Timedelta(milliseconds=250 * record) for record in range(RECORDS)]
    return times, [invented(record, column) for record in range(RECORDS)]


def check_text(path, separator, first):
    frame = pd.read_csv(path, sep=separator, na_values=[" "])
    assert list(frame.columns) == [first, *(path for path, _ in COLUMNS), 'Invented, with "quotes"'], frame.columns
    # UTC is the local time and the bias.
    bias = int(first.rsplit("(", 1)[1].rstrip(")"))
    times = pd.to_datetime(frame[first], format="%m/%d/%Y %H:%M:%S.%f").dt.tz_localize("UTC")
    times = times + pd.Timedelta(minutes=bias)
    for number, (name, _) in enumerate(COLUMNS):
        wanted_times, wanted = expected(number)
        assert list(times) == wanted_times
        assert [None if pd.isna(value) else value for value in frame[name]] == wanted, name
    assert frame.iloc[:, -1].isna().all()


def check_table(frame, reader):
    assert len(frame) == RECORDS * len(COLUMNS), reader
    for number, (_, (object_, parent, instance, index, counter)) in enumerate(COLUMNS):
        rows = frame[(frame["counter"] == counter) & (frame["object"] == object_)].sort_values("time")
        wanted_times, wanted = expected(number)
        assert list(pd.to_datetime(rows["time"], utc=True)) == wanted_times, reader
        assert [None if pd.isna(value) else value for value in rows["value"]] == wanted, (reader, counter)
        names = rows[["machine", "parent", "instance", "instance_index"]].drop_duplicates().values.tolist()
        names = [[None if pd.isna(name) else name for name in row] for row in names]
        assert names == [["WEB1", parent, instance, index]], (reader, names)
        raw = [None if value is None else record << 32 for record, value in enumerate(wanted)]
        assert [None if pd.isna(value) else int(value) for value in rows["raw_first"]] == raw, (reader, counter)
    assert set(frame["counter_type"]) == {0x10410400} and set(frame["time_base"]) == {10_000_000}, reader


folder = Path(sys.argv[1])
check_text(folder / "invented.csv", ",", "(PDH-CSV 4.0) (W. Europe Standard Time)(-60)")
check_text(folder / "invented.tsv", "\t", "(PDH-TSV 4.0) (W. Europe Standard Time)(-60)")
parquet = folder / "invented.parquet"
check_table(pd.read_parquet(parquet), "pandas")
check_table(duckdb.sql(f"SELECT * FROM '{parquet}'").df(), "DuckDB")
metadata = pq.read_metadata(parquet)
assert metadata.num_row_groups > 1, metadata
assert metadata.metadata[b"time_zone"] == b"Europe/Berlin", metadata.metadata
csv = duckdb.sql(f"SELECT count(*), count(\"{COLUMNS[0][0]}\") FROM read_csv('{folder / 'invented.csv'}', nullstr=' ')")
assert csv.fetchall() == [(RECORDS, sum(value is not None for value in expected(0)[1]))]
rows = f"{RECORDS} records of {len(COLUMNS)} counters"
print(f"pandas {pd.__version__} and DuckDB {duckdb.__version__} read {rows} from CSV, TSV and Parquet")
