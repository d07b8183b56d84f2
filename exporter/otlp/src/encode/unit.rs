//! Units as UCUM, the code that OTLP asks for, writes them.

use std::borrow::Cow;

/// The unit's code. What UCUM has no code for stands in braces, where it calls anything an annotation.
pub(super) fn ucum(unit: &str) -> Cow<'_, str> {
    let code = match unit {
        "" => "",
        "seconds" => "s",
        "milliseconds" => "ms",
        "bytes" => "By",
        "bits" => "bit",
        "ratio" => "1",
        "percent" => "%",
        "hertz" => "Hz",
        "celsius" => "Cel",
        "kelvin" => "K",
        "volts" => "V",
        "amperes" => "A",
        "watts" => "W",
        "joules" => "J",
        "meters" => "m",
        "grams" => "g",
        other => return Cow::Owned(format!("{{{other}}}")),
    };
    Cow::Borrowed(code)
}
