//! Laws of `counter-types`.

use counter_types::CounterPath;

use crate::input::Input;

/// A counter path: what was read is given back as it was, and a mistake is where it is said to be.
pub fn path(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(Input::new(bytes).rest()) else { return };
    match text.parse::<CounterPath>() {
        Ok(path) => {
            let whole = if text.starts_with('\\') { text.to_owned() } else { format!(r"\{text}") };
            assert_eq!(path.to_string(), whole, "a path is given back as it was");
            assert!(!path.counterset.is_empty() && !path.counter.is_empty());
            if let Some(instance) = &path.instance {
                assert!(text.contains(&instance.to_string()));
                assert!(instance.to_string().starts_with(&instance.whole_name()));
            }
        }
        Err(error) => assert!(error.position <= text.chars().count(), "{error}"),
    }
}
