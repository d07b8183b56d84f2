//! Patterns in which `*` stands for any characters.

/// Whether `*` in the pattern can stand for characters so that it becomes the text.
pub fn matches(pattern: &str, text: &str) -> bool {
    matches_by(pattern.as_bytes(), text.as_bytes(), |wanted, byte| wanted == byte)
}

/// The same of a file's name, where `?` stands for any one byte.
pub fn matches_file(pattern: &[u8], name: &[u8]) -> bool {
    matches_by(pattern, name, |wanted, byte| wanted == b'?' || wanted == byte)
}

/// Linear in the text for each star; no recursion, so that a pattern of many stars costs nothing.
fn matches_by(pattern: &[u8], text: &[u8], is_like: impl Fn(u8, u8) -> bool) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&wanted) if is_like(wanted, text[t]) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((star_p, star_t)) = star else { return false };
                star = Some((star_p, star_t + 1));
                p = star_p + 1;
                t = star_t + 1;
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, expected) in [
            ("web1", "web1", true),
            ("web", "web1", false),
            ("web*", "web1", true),
            ("*", "", true),
            ("*.corp", "a.b.corp", true),
            ("w*1*", "web1", true),
            ("a*b*c", "abcb", false),
            ("ab*ba", "aba", false),
            ("a**a", "aa", true),
            ("*ß", "größß", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_question_mark_stands_for_a_byte_of_a_files_name_and_elsewhere_for_itself() {
        assert!(matches_file(b"web-?.yml", b"web-1.yml"));
        assert!(!matches_file(b"web-?.yml", b"web-12.yml"));
        assert!(matches("web-?", "web-?"));
        assert!(!matches("web-?", "web-1"));
    }

    #[test]
    fn many_stars_match_in_reasonable_time() {
        let pattern = "*a".repeat(200);
        assert!(!matches(&pattern, &"a".repeat(199)));
        assert!(matches(&pattern, &"ba".repeat(200)));
    }
}
