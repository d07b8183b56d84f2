//! Instance names with wild cards: `*` is any text, `?` any character; case does not matter.

/// Whether a name asks for several instances.
pub(super) fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether `text` is what `pattern` asks for. Takes time by the product of both lengths at most.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    let text: Vec<char> = text.to_lowercase().chars().collect();
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
