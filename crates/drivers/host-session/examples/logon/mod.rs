//! Whom the examples log on as.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use ssp::kerberos::{Cache, EncryptionType, Kerberos, Origin};
use ssp::{Credentials, Secret, Tickets};

#[derive(Args)]
pub(crate) struct Logon {
    /// The account, as DOMAIN\user or user.
    #[arg(long, required_unless_present = "ccache", requires = "password_file")]
    user: Option<String>,
    /// A file with the password; one newline at its end is not part of it.
    #[arg(long)]
    password_file: Option<PathBuf>,
    /// A credential cache as krb5.conf names it, for Kerberos instead of NTLM.
    #[arg(long, conflicts_with = "user")]
    ccache: Option<String>,
    /// No types but AES256 with SHA-1, which every peer has.
    #[arg(long, requires = "ccache")]
    sha1: bool,
}

impl Logon {
    /// The credentials, and the cache that holds their tickets for as long as it lives.
    pub(crate) fn credentials(&self) -> Result<(Credentials, Option<Cache>), Box<dyn Error>> {
        if let Some(name) = &self.ccache {
            let library = Kerberos::of_the_system()?;
            let encryption_types =
                if self.sha1 { vec![EncryptionType::AES256_SHA1] } else { EncryptionType::STRONG.to_vec() };
            let (cache, _) = Cache::obtain(library, "example", Origin::Cache { name }, &encryption_types)?;
            let (principal, name) = (String::new(), cache.name().to_owned());
            let tickets = Tickets { principal, cache: name, service: None, encryption_types };
            return Ok((Credentials::Tickets(tickets), Some(cache)));
        }
        let (Some(user), Some(password_file)) = (&self.user, &self.password_file) else {
            return Err("neither an account with its password nor a cache is given".into());
        };
        let text = std::fs::read_to_string(password_file)?;
        let password = Secret::new(text.strip_suffix('\n').unwrap_or(&text));
        let (domain, user) = user.split_once('\\').unwrap_or(("", user));
        Ok((Credentials::new(domain, user, password), None))
    }
}
