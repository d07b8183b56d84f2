//! Messages of protobuf as lines, without their schema: fields by number, nested ones indented.

use std::fmt::Write;

use super::normal::{PORT, Window};

/// A field of a message.
enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// A line for each field, each with `indent` before it; nothing where this is no message.
pub(super) fn lines(message: &[u8], indent: &str, window: Window) -> String {
    let mut text = String::new();
    write(fields(message).unwrap_or_default(), indent, window, &mut text);
    text
}

/// Appends a line for each field, each with `indent` before it.
fn write(fields: Vec<(u64, Field<'_>)>, indent: &str, window: Window, text: &mut String) {
    let mut repeated: Vec<(u64, String)> = Vec::new();
    for (number, field) in fields {
        let mut written = format!("{indent}{number}: ");
        match field {
            Field::Varint(value) => line(&mut written, &value.to_string()),
            Field::Fixed64(bits) => line(&mut written, &fixed64(bits)),
            Field::Fixed32(bits) => line(&mut written, &bits.to_string()),
            Field::Bytes(bytes) => write_bytes(bytes, indent, window, &mut written),
        }
        if repeated.first().is_some_and(|(last, _)| *last != number) {
            flush(&mut repeated, text);
        }
        repeated.push((number, written));
    }
    flush(&mut repeated, text);
}

/// Elements of a list, in an order of their own: that of pages is compared as text.
fn flush(repeated: &mut Vec<(u64, String)>, text: &mut String) {
    // By labels first: values may vary.
    repeated.sort_by_cached_key(|(_, written)| {
        let strings: String = written.lines().filter(|line| line.ends_with('"')).collect();
        (strings, written.clone())
    });
    text.extend(repeated.drain(..).map(|(_, written)| written));
}

fn write_bytes(bytes: &[u8], indent: &str, window: Window, text: &mut String) {
    let written = std::str::from_utf8(bytes);
    match (written, fields(bytes)) {
        (Ok(written), _) if written == window.objects.to_string() => line(text, PORT),
        (Ok(written), _) if !written.contains(char::is_control) => line(text, &format!("{written:?}")),
        (_, Some(fields)) if is_time(&fields, window) => line(text, "<time>"),
        (_, Some(fields)) => {
            line(text, "");
            write(fields, &format!("{indent}  "), window, text);
        }
        // Text has lines and tabs; what has other control characters are packed numbers.
        (Ok(written), None) if !written.contains(|c: char| c.is_control() && c != '\n' && c != '\t') => {
            line(text, &format!("{written:?}"));
        }
        (_, None) => line(text, &format!("{bytes:02x?}")),
    }
}

fn line(text: &mut String, value: &str) {
    let _ = writeln!(text, "{value}");
}

/// A number is nearly always a double; times of OTLP are nanoseconds.
fn fixed64(bits: u64) -> String {
    let value = f64::from_bits(bits);
    match value {
        _ if (1_000_000_000_000_000_000..3_000_000_000_000_000_000).contains(&bits) => bits.to_string(),
        // What would be a tiny double is an integer.
        _ if value.is_subnormal() => bits.to_string(),
        _ if value.is_nan() => format!("NaN {bits:016x}"),
        _ => format!("{value:?}"),
    }
}

fn is_time(fields: &[(u64, Field<'_>)], window: Window) -> bool {
    match fields {
        [(1, Field::Varint(seconds))] | [(1, Field::Varint(seconds)), (2, Field::Varint(_))] => {
            window.holds(i128::from(*seconds) * 1_000_000_000)
        }
        _ => false,
    }
}

/// The fields of a message, where these bytes are one.
fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Field<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let field = match key & 7 {
            0 => Field::Varint(varint(&mut bytes)?),
            1 => Field::Fixed64(u64::from_le_bytes(take(&mut bytes, 8)?.try_into().ok()?)),
            2 => {
                let length = varint(&mut bytes)?;
                Field::Bytes(take(&mut bytes, length)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?)),
            _ => return None,
        };
        if key >> 3 == 0 {
            return None;
        }
        fields.push((key >> 3, field));
    }
    Some(fields)
}

/// The payloads of each field of this number.
pub(super) fn payloads(message: &[u8], wanted: u64) -> Vec<&[u8]> {
    let fields = fields(message).unwrap_or_default().into_iter();
    fields
        .filter_map(|(number, field)| match field {
            Field::Bytes(bytes) if number == wanted => Some(bytes),
            _ => None,
        })
        .collect()
}

/// Messages behind each other, each with its length before it.
pub(super) fn delimited(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let length = varint(&mut bytes)?;
        messages.push(take(&mut bytes, length)?);
    }
    Some(messages)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{1: "cpu", 2: {1: 1.5 (fixed64), 2: 300}, 3: {1: 1700000100, 2: 5}}`, by hand of the encoding guide.
    const MESSAGE: &[u8] =
        b"\x0a\x03cpu\x12\x0c\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x1a\x08\x08\xe4\xe2\xcf\xaa\x06\x10\x05";

    #[test]
    fn fields_are_written_by_number_and_times_of_the_run_are_no_values() {
        let written = |window| lines(MESSAGE, "cpu ", window);
        let head = "cpu 1: \"cpu\"\ncpu 2: \ncpu   1: 1.5\ncpu   2: 300\n";
        let run = Window { from_ns: 1_700_000_000_000_000_000, to_ns: 1_700_000_200_000_000_000, objects: 1 };
        assert_eq!(written(run), format!("{head}cpu 3: <time>\n"));
        let other = Window { from_ns: 0, to_ns: 1, objects: 1 };
        assert_eq!(written(other), format!("{head}cpu 3: \ncpu   1: 1700000100\ncpu   2: 5\n"));
    }

    #[test]
    fn what_is_cut_off_is_no_message() {
        assert!(fields(&MESSAGE[..MESSAGE.len() - 1]).is_none());
        assert!(delimited(b"\x02a").is_none());
        assert_eq!(delimited(b"\x01a\x02bc").unwrap(), [&b"a"[..], b"bc"]);
        assert_eq!(payloads(MESSAGE, 1), [b"cpu"]);
    }
}
