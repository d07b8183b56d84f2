//! Questions on a terminal.

use std::io::{self, Read, Stdin, Write, stderr, stdin};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::{Error, PASSWORD_BYTES_MAX};

const CTRL_C: u8 = 0x03;
const CTRL_D: u8 = 0x04;
const CTRL_U: u8 = 0x15;
const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;

/// Asks until there is an answer; an empty line means `default`.
pub(super) fn ask(question: &str, default: Option<&str>) -> Result<String, Error> {
    let shown = default.map(|default| format!(" [{default}]")).unwrap_or_default();
    loop {
        prompt(&format!("{question}{shown}: "))?;
        let mut line = String::new();
        if stdin().read_line(&mut line)? == 0 {
            return Err(Error::Failed("the input ended; nothing was written".to_owned()));
        }
        match (line.trim(), default) {
            ("", None) => {}
            ("", Some(default)) => return Ok(default.to_owned()),
            (answer, _) => return Ok(answer.to_owned()),
        }
    }
}

/// Reads a line that the terminal does not show.
pub(super) fn ask_password(question: &str) -> Result<Zeroizing<String>, Error> {
    let hidden = Hidden::new(stdin())?;
    prompt(question)?;
    let password = read_hidden(&mut hidden.stdin.lock());
    drop(hidden);
    // The line break that was not shown either.
    prompt("\n")?;
    password
}

/// Reads to the end of the line. Keys that the terminal would care for otherwise are cared for here.
fn read_hidden(input: &mut impl Read) -> Result<Zeroizing<String>, Error> {
    let mut typed = Zeroizing::new(String::with_capacity(PASSWORD_BYTES_MAX));
    // Bytes of a character of which more is to come.
    let mut part = Zeroizing::new(Vec::with_capacity(4));
    let mut byte = [0];
    while typed.len() + part.len() < PASSWORD_BYTES_MAX {
        if input.read(&mut byte)? == 0 {
            return Ok(typed);
        }
        if byte[0].is_ascii() && !part.is_empty() || part.len() == 4 {
            return Err(Error::Failed("the password is not UTF-8; set the terminal to UTF-8".to_owned()));
        }
        match byte[0] {
            b'\n' | b'\r' | CTRL_D => return Ok(typed),
            CTRL_C => return Err(Error::Cancelled),
            CTRL_U => typed.clear(),
            BACKSPACE | DELETE => drop(typed.pop()),
            byte if byte.is_ascii_control() => {}
            byte => part.push(byte),
        }
        if let Ok(character) = std::str::from_utf8(&part) {
            typed.push_str(character);
            part.clear();
        }
    }
    Err(Error::Failed(format!("the password has more than {PASSWORD_BYTES_MAX} bytes")))
}

/// A terminal that shows nothing of what is typed, until this is dropped. Ctrl-C is a byte meanwhile: a signal would end
/// the process and leave the terminal so.
struct Hidden {
    stdin: Stdin,
    before: Termios,
}

impl Hidden {
    fn new(stdin: Stdin) -> io::Result<Self> {
        let before = tcgetattr(&stdin)?;
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
        hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
        hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&stdin, OptionalActions::Drain, &hidden)?;
        Ok(Self { stdin, before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that has gone needs no setting.
        let _ = tcsetattr(&self.stdin, OptionalActions::Drain, &self.before);
    }
}

/// On the standard error: the standard output may be a file.
fn prompt(text: &str) -> io::Result<()> {
    let mut stderr = stderr();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Failed(format!(
            "ask on the terminal: {error}; give the options instead, `init --help` lists them"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_edit_a_line_that_is_not_shown() {
        let read = |mut bytes: &[u8]| read_hidden(&mut bytes).map(|typed| typed.to_string());
        assert_eq!(read("gone\u{15}pässü\u{7f}x\u{8}y\u{1b}\nrest".as_bytes()).unwrap(), "pässy");
        assert_eq!(read(b"a\rb").unwrap(), "a");
        assert!(matches!(read(b"a\x03b\n"), Err(Error::Cancelled)));
        assert!(matches!(read(b"\xff\n"), Err(Error::Failed(_))));
        assert!(matches!(read(&[b'a'; 5000]), Err(Error::Failed(_))));
    }
}
