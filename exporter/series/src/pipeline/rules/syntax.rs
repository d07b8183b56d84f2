//! Regular expressions as Prometheus reads them, in the words of the `regex` crate.
//!
//! Both are descendants of RE2 and find the same leftmost match, but not every text means the same to both:
//!
//! * `\d`, `\s`, `\w` and `\b` are ASCII;
//! * a `{` that opens no repetition is a brace; `{,3}` is no repetition;
//! * inside of `[…]`, `[`, `&&`, `--` and `~~` are characters;
//! * `\Q…\E` quotes; `\101` is octal; any punctuation may be escaped, `\<` is `<`;
//! * of the flags only `i`, `m`, `s` and `U` exist; a repetition of a repetition is an error, and so is one of more
//!   than 1,000.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// The same expression for the `regex` crate, or what is wrong with it.
pub(super) fn translated(pattern: &str) -> Result<String, String> {
    let out = String::with_capacity(pattern.len() + 16);
    let mut reader = Reader { chars: pattern.chars().peekable(), out, has_no_posix: false };
    reader.expression()?;
    Ok(reader.out)
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    out: String,
    /// Behind what is read so far is no `:]`, so that nobody looks for it again.
    has_no_posix: bool,
}

/// The meaning of an escape.
enum Escape {
    Literal(char),
    Class(&'static str),
    Property(String),
}

impl Reader<'_> {
    fn expression(&mut self) -> Result<(), String> {
        let mut after_repetition = false;
        while let Some(char) = self.chars.next() {
            let repeats = match char {
                '*' | '+' | '?' => Some(char.to_string()),
                '{' => self.repetition()?,
                _ => None,
            };
            if let Some(operator) = repeats {
                if after_repetition {
                    return Err(format!("`{operator}` repeats a repetition"));
                }
                self.out.push_str(&operator);
                if self.chars.next_if_eq(&'?').is_some() {
                    self.out.push('?');
                }
                after_repetition = true;
                continue;
            }
            after_repetition = false;
            match char {
                '\\' => self.escaped()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '.' | '^' | '$' | '|' | ')' => self.out.push(char),
                literal => self.literal(literal),
            }
        }
        Ok(())
    }

    /// Behind a `{`: the repetition that it opens, if it opens one.
    fn repetition(&mut self) -> Result<Option<String>, String> {
        const COUNT_MAX: u32 = 1_000;
        let ahead: String = self.chars.clone().take_while(|&char| char != '}').take(24).collect();
        let (least, most) = match ahead.split_once(',') {
            Some((least, most)) => (least, Some(most)),
            None => (ahead.as_str(), None),
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let closes = self.chars.clone().nth(ahead.chars().count()) == Some('}');
        if !(closes && is_number(least) && most.is_none_or(|most| most.is_empty() || is_number(most))) {
            return Ok(None);
        }
        let count = |text: &str| text.parse::<u32>().ok().filter(|count| *count <= COUNT_MAX);
        let bounds = [Some(least), most.filter(|most| !most.is_empty())];
        if bounds.into_iter().flatten().any(|bound| count(bound).is_none()) {
            return Err(format!("`{{{ahead}}}` repeats more than {COUNT_MAX} times"));
        }
        self.chars.nth(ahead.chars().count());
        Ok(Some(format!("{{{ahead}}}")))
    }

    /// Behind a backslash, outside of brackets.
    fn escaped(&mut self) -> Result<(), String> {
        match self.chars.peek() {
            Some('A' | 'z') => {
                self.out.push('\\');
                self.out.extend(self.chars.next());
            }
            // ASCII's word boundaries; their negation is spelled out, since it may not split a character.
            Some('b') => {
                self.chars.next();
                self.out.push_str(r"(?-u:\b)");
            }
            Some('B') => {
                self.chars.next();
                self.out.push_str(r"(?-u:\B)");
            }
            Some('Q') => {
                self.chars.next();
                self.quoted()?;
            }
            _ => match self.escape()? {
                Escape::Literal(char) => self.literal(char),
                Escape::Class(class) => self.out.push_str(class),
                Escape::Property(property) => self.out.push_str(&property),
            },
        }
        Ok(())
    }

    /// Up to `\E`, everything is itself.
    fn quoted(&mut self) -> Result<(), String> {
        while let Some(char) = self.chars.next() {
            if char == '\\' && self.chars.next_if_eq(&'E').is_some() {
                return Ok(());
            }
            self.literal(char);
        }
        Err("a `\\Q` is not closed".to_owned())
    }

    /// An escape that means the same inside and outside of brackets.
    fn escape(&mut self) -> Result<Escape, String> {
        let char = self.chars.next().ok_or("it ends in a backslash")?;
        let literal = match char {
            'd' => return Ok(Escape::Class("[0-9]")),
            'D' => return Ok(Escape::Class("[^0-9]")),
            's' => return Ok(Escape::Class(r"[\t\n\x0C\r ]")),
            'S' => return Ok(Escape::Class(r"[^\t\n\x0C\r ]")),
            'w' => return Ok(Escape::Class("[0-9A-Za-z_]")),
            'W' => return Ok(Escape::Class("[^0-9A-Za-z_]")),
            'p' | 'P' => return self.property(char == 'P').map(Escape::Property),
            'a' => '\x07',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => self.hexadecimal()?,
            '0'..='7' => self.octal(char)?,
            _ if char.is_ascii() && !char.is_ascii_alphanumeric() => char,
            _ => return Err(format!("`\\{char}` is no escape")),
        };
        Ok(Escape::Literal(literal))
    }

    fn hexadecimal(&mut self) -> Result<char, String> {
        let digits: String = if self.chars.next_if_eq(&'{').is_some() {
            self.chars.by_ref().take_while(|&char| char != '}').take(HEXADECIMAL_DIGITS_MAX).collect()
        } else {
            self.chars.by_ref().take(2).collect()
        };
        let code = u32::from_str_radix(&digits, 16).ok().filter(|_| !digits.starts_with('+'));
        code.and_then(char::from_u32).ok_or_else(|| format!("`\\x{digits}` is not a character"))
    }

    /// `\0` and up to two digits more; another first digit needs a second one, since alone it would refer back.
    fn octal(&mut self, first: char) -> Result<char, String> {
        let mut code = first.to_digit(8).unwrap_or(0);
        let mut digits = 1;
        while digits < 3
            && let Some(digit) = self.chars.peek().and_then(|char| char.to_digit(8))
        {
            self.chars.next();
            code = code * 8 + digit;
            digits += 1;
        }
        if digits == 1 && first != '0' {
            return Err(format!("`\\{first}` would refer back, which is not supported"));
        }
        char::from_u32(code).ok_or_else(|| "an octal escape is not a character".to_owned())
    }

    fn property(&mut self, mut negated: bool) -> Result<String, String> {
        let missing = "`\\p` names no property";
        let name: String = match self.chars.next().ok_or(missing)? {
            '{' => {
                negated ^= self.chars.next_if_eq(&'^').is_some();
                self.chars.by_ref().take_while(|&char| char != '}').collect()
            }
            letter => letter.to_string(),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(missing.to_owned());
        }
        Ok(format!(r"\{}{{{name}}}", if negated { 'P' } else { 'p' }))
    }

    fn class(&mut self) -> Result<(), String> {
        const OPEN: &str = "a `[` is not closed";
        self.out.push('[');
        if self.chars.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let char = self.chars.next().ok_or(OPEN)?;
            if char == ']' && !first {
                self.out.push(']');
                return Ok(());
            }
            first = false;
            if char == '[' && self.posix_class()? {
                continue;
            }
            let low = match char {
                '\\' => match self.escape()? {
                    Escape::Literal(char) => char,
                    Escape::Class(class) => {
                        self.out.push_str(class);
                        continue;
                    }
                    Escape::Property(property) => {
                        self.out.push_str(&property);
                        continue;
                    }
                },
                char => char,
            };
            self.literal(low);
            self.range(low).map_err(|problem| if problem.is_empty() { OPEN.to_owned() } else { problem })?;
        }
    }

    /// The end of a range that begins with `low`, if it is one: a `-` before `]` is a character.
    fn range(&mut self, low: char) -> Result<(), String> {
        let mut ahead = self.chars.clone();
        if ahead.next() != Some('-') || ahead.next().is_none_or(|char| char == ']') {
            return Ok(());
        }
        self.chars.next();
        let high = match self.chars.next().ok_or("")? {
            '\\' => match self.escape()? {
                Escape::Literal(char) => char,
                _ => return Err(format!("the range from `{low}` has no end")),
            },
            char => char,
        };
        if high < low {
            return Err(format!("the range `{low}-{high}` is empty"));
        }
        self.out.push('-');
        self.literal(high);
        Ok(())
    }

    /// Behind a `[` inside of brackets: whether it opened `[:name:]`.
    fn posix_class(&mut self) -> Result<bool, String> {
        if self.has_no_posix || self.chars.peek() != Some(&':') {
            return Ok(false);
        }
        let rest: String = self.chars.clone().skip(1).collect();
        let Some((name, _)) = rest.split_once(":]") else {
            self.has_no_posix = true;
            return Ok(false);
        };
        if !POSIX_CLASSES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return Err(format!("there is no class `[:{name}:]`"));
        }
        // Writing into a string cannot fail.
        let _ = write!(self.out, "[:{name}:]");
        self.chars.nth(name.chars().count() + 2);
        Ok(true)
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.chars.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        if matches!(self.chars.peek(), Some('P' | '<')) {
            for char in self.chars.by_ref() {
                self.out.push(char);
                if char == '>' {
                    break;
                }
            }
            return Ok(());
        }
        loop {
            match self.chars.next().ok_or("a `(?` is not closed")? {
                end @ (':' | ')') => {
                    self.out.push(end);
                    return Ok(());
                }
                flag @ ('i' | 'm' | 's' | 'U' | '-') => self.out.push(flag),
                other => return Err(format!("`(?{other}` is not supported")),
            }
        }
    }

    /// The character itself, inside and outside of brackets.
    fn literal(&mut self, char: char) {
        if char.is_alphanumeric() || matches!(char, '_' | ' ' | ':' | ';' | ',' | '/' | '"' | '\'' | '%') {
            self.out.push(char);
        } else {
            // Writing into a string cannot fail.
            let _ = write!(self.out, "\\x{{{:x}}}", u32::from(char));
        }
    }
}

/// More than any character has: what is not closed must not become the whole of an error.
const HEXADECIMAL_DIGITS_MAX: usize = 16;

const POSIX_CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];
