//! Instance names with wild cards: `*` is any text, `?` any character; case does not matter.

/// What a name in an identifier asks for.
pub(super) struct Pattern {
    /// In lower case; `None` for whatever there is.
    text: Option<Vec<char>>,
}

impl Pattern {
    /// What `text` asks for.
    pub(super) fn new(text: &str) -> Self {
        if text == "*" { Self::everything() } else { Self { text: Some(lower_case(text)) } }
    }

    pub(super) const fn everything() -> Self {
        Self { text: None }
    }

    /// Whether it asks for several instances.
    pub(super) fn has_wildcard(&self) -> bool {
        self.text.as_ref().is_none_or(|text| text.iter().any(|c| matches!(c, '*' | '?')))
    }

    /// Whether it asks for `text`. Takes time by the product of both lengths at most.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.text.as_ref().is_none_or(|pattern| matches(pattern, &lower_case(text)))
    }
}

fn lower_case(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on when what follows the last `*` turns out wrong: behind it, one character further on.
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                retry = Some((after_star, from + 1));
                (p, t) = (after_star, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).matches(text)
    }

    #[test]
    fn stars_and_question_marks_match_as_in_file_names() {
        assert!(matches("*", ""));
        assert!(matches("SVC*:11?8", "svchost:1188"));
        assert!(matches("*a*b", "aab-ab"));
        assert!(!matches("*a*b", "aab-abc"));
        assert!(!matches("?", ""));
        assert!(!matches("0,1", "0,10"));
    }
}
