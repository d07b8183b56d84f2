use counter_poll::paths::{Key, PathPlan, Sample, Value, is_shown_as_read};
use counter_types::{Cooked, Reading};
use serde_json::{Map, json};

use super::Formatter;
use super::clock;

/// One JSON object per line: the host, the clocks of the reply, and the raw and displayed form of each value, so
/// that other clients can be compared.
#[derive(Debug)]
pub(super) struct Json {
    host: String,
}

impl Json {
    pub(super) fn new(host: &str) -> Self {
        Self { host: host.to_owned() }
    }
}

impl Formatter for Json {
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String {
        let values: Vec<serde_json::Value> =
            sample.values.iter().map(|(key, value)| object(plan, key, value)).collect();
        let line = json!({
            "host": self.host,
            "time": clock::rfc3339(sample.time),
            "perf_time": sample.clocks.perf_time,
            "perf_freq": sample.clocks.perf_freq,
            "time_100ns": sample.clocks.time_100ns,
            "values": values,
        });
        format!("{line}\n")
    }
}

fn object(plan: &PathPlan, key: &Key, value: &Value) -> serde_json::Value {
    let counterset = &plan.countersets[key.counterset];
    let counter = &counterset.counters[key.counter];
    let mut object = Map::new();
    let mut put = |name: &str, value: serde_json::Value| object.insert(name.to_owned(), value);
    put("path", key.path(plan).into());
    put("counterset", counterset.name.text.as_str().into());
    put("instance", key.instance.as_ref().map(|instance| instance.name.as_str()).into());
    put("instance_id", key.instance.as_ref().and_then(|instance| instance.id).into());
    put("counter", counter.name.as_str().into());
    put("counter_id", counter.info.counter_id.0.into());
    put("type", counter.info.counter_type.to_string().into());
    match value {
        Value::Text(text) => {
            put("value", text.as_str().into());
            put("raw", serde_json::Value::Null);
        }
        Value::Nothing => {
            put("value", serde_json::Value::Null);
            put("raw", serde_json::Value::Null);
        }
        Value::Number(reading, cooked) => {
            let Reading { value: raw, base, clocks } = reading;
            match cooked {
                Cooked::Value(_) if is_shown_as_read(&counter.info) => put("value", (*raw).into()),
                Cooked::Value(value) => put("value", (*value).into()),
                _ => put("value", serde_json::Value::Null),
            };
            if let Some(reason) = reason(*cooked) {
                put("no_value", reason.into());
            }
            put("raw", (*raw).into());
            put("base", (*base).into());
            if clocks.object_time.is_some() || clocks.object_freq.is_some() {
                put("object_time", clocks.object_time.into());
                put("object_freq", clocks.object_freq.into());
            }
        }
    }
    serde_json::Value::Object(object)
}

/// Why there is no value.
const fn reason(cooked: Cooked) -> Option<&'static str> {
    match cooked {
        Cooked::Value(_) => None,
        Cooked::NeedsTwo => Some("needs_two"),
        Cooked::Restarted => Some("restarted"),
        Cooked::Undefined => Some("undefined"),
        Cooked::NoValue => Some("no_value"),
    }
}
