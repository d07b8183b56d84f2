use std::io;

use crate::{SinkError, SinkErrorKind};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::PostgresSettings;
use crate::database::failure;

/// Why a transaction failed.
#[derive(Debug)]
pub(super) enum Failed {
    /// What was being done, and what tokio-postgres says.
    Request(&'static str, Error),
    /// It is clear already.
    Told(SinkError),
}

impl From<(&'static str, Error)> for Failed {
    fn from((doing, error): (&'static str, Error)) -> Self {
        Self::Request(doing, error)
    }
}

/// What a failure of PostgreSQL means for a log, and what to do about it. Appendix A of its documentation lists the codes.
pub(super) fn failed(settings: &PostgresSettings, doing: &str, error: &Error) -> SinkError {
    let name = settings.name();
    let Some(answer) = error.as_db_error() else {
        let text = shortened(&with_causes(error));
        if text.contains("password missing") {
            return failure(
                SinkErrorKind::Denied,
                format!("{name}: {doing}: {text}; give the user a password"),
            );
        }
        // What the guard refuses, TLS, and messages that are none.
        if is_misunderstanding(error) {
            let advice = "check what listens there, and its certificate";
            return failure(SinkErrorKind::Other, format!("{name}: {doing}: {text}; {advice}"));
        }
        return unavailable(settings, &format!("{doing}: {text}"));
    };
    let (kind, advice) = meaning(answer.code());
    let (code, message) = (answer.code().code(), shortened(answer.message()));
    failure(kind, format!("{name}: {doing}: {message} ({code}); {advice}"))
}

/// An error of tokio-postgres names its causes only as sources.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

fn is_misunderstanding(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            return matches!(cause.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
        }
        source = cause.source();
    }
    false
}

/// The server is not there, or does not answer as one.
pub(super) fn unavailable(settings: &PostgresSettings, text: &str) -> SinkError {
    let advice = "check that the server runs, and its address";
    failure(SinkErrorKind::Unavailable, format!("{}: {}; {advice}", settings.name(), shortened(text)))
}

fn meaning(code: &SqlState) -> (SinkErrorKind, &'static str) {
    use SinkErrorKind::{Denied, Full, Other, Refused, Unavailable};
    let (class, _) = code.code().split_at_checked(2).unwrap_or_default();
    match class {
        "28" => (Denied, "check the user, its password, and pg_hba.conf"),
        "08" | "57" | "40" | "55" => (Unavailable, "the server is asked again with the next records"),
        _ if *code == SqlState::TOO_MANY_CONNECTIONS => (Unavailable, "allow more connections on the server"),
        _ if *code == SqlState::DISK_FULL => (Full, "free space on the server"),
        "53" => (Unavailable, "give the server more memory, or raise its limits"),
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            (Denied, "let the user make and write the tables in its schema")
        }
        _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => (Denied, "name the primary server"),
        "3D" => (Denied, "create the database"),
        "22" | "23" | "42" => (Refused, "use another database or schema"),
        _ => (Other, "look into the server's log"),
    }
}

/// A server chooses these texts: one line of a moderate length.
fn shortened(text: &str) -> String {
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    let mut short: String = text.chars().take(TEXT_CHARACTERS_MAX).map(printable).collect();
    if text.chars().nth(TEXT_CHARACTERS_MAX).is_some() {
        short.push('…');
    }
    short
}

const TEXT_CHARACTERS_MAX: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_of_a_server_is_one_short_line() {
        let text = shortened(&"line\n\u{1b}[31m".repeat(100_000));
        assert_eq!(text.chars().count(), TEXT_CHARACTERS_MAX + 1);
        assert!(!text.contains(char::is_control));
    }

    #[test]
    fn codes_have_the_kinds_that_say_what_to_do() {
        let kinds = [
            (SqlState::DISK_FULL, SinkErrorKind::Full),
            (SqlState::OUT_OF_MEMORY, SinkErrorKind::Unavailable),
            (SqlState::TOO_MANY_CONNECTIONS, SinkErrorKind::Unavailable),
            (SqlState::INVALID_PASSWORD, SinkErrorKind::Denied),
            (SqlState::ADMIN_SHUTDOWN, SinkErrorKind::Unavailable),
            (SqlState::INSUFFICIENT_PRIVILEGE, SinkErrorKind::Denied),
            (SqlState::UNDEFINED_COLUMN, SinkErrorKind::Refused),
            (SqlState::from_code(""), SinkErrorKind::Other),
            (SqlState::from_code("ä"), SinkErrorKind::Other),
        ];
        for (code, kind) in kinds {
            assert_eq!(meaning(&code).0, kind, "{code:?}");
        }
    }
}
