//! Whom the examples log on as.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use ssp::kerberos::{Cache, EncryptionType, Kerberos, Key, Origin};
use ssp::{Credentials, LongTermKey, Principal, Secret, Tickets};

#[derive(Args)]
pub(crate) struct Logon {
    /// The account, as DOMAIN\user or user.
    #[arg(long, required_unless_present_any = ["ccache", "principal"], requires = "password_file")]
    user: Option<String>,
    /// A file with the password; one newline at its end is not part of it.
    #[arg(long)]
    password_file: Option<PathBuf>,
    /// A credential cache as krb5.conf names it, for Kerberos instead of NTLM.
    #[arg(long, conflicts_with = "user")]
    ccache: Option<String>,
    /// An account of Kerberos as NAME@REALM, for a logon without the library of the system.
    #[arg(long, conflicts_with_all = ["user", "ccache"])]
    principal: Option<String>,
    /// A keytab of the principal, instead of its password.
    #[arg(long, requires = "principal")]
    keytab: Option<PathBuf>,
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
        let password = || -> Result<Secret, Box<dyn Error>> {
            let file = self.password_file.as_ref().ok_or("there is no password file")?;
            let text = std::fs::read_to_string(file)?;
            Ok(Secret::new(text.strip_suffix('\n').unwrap_or(&text)))
        };
        if let Some(principal) = &self.principal {
            let (username, realm) = principal.rsplit_once('@').ok_or("a principal is NAME@REALM")?;
            let proof = match &self.keytab {
                Some(file) => {
                    let types = &EncryptionType::WITHOUT_LIBRARY;
                    LongTermKey::Key(Key::of_keytab(&std::fs::read(file)?, principal, types)?)
                }
                None => LongTermKey::Password(password()?),
            };
            let (username, realm) = (username.to_owned(), realm.to_owned());
            return Ok((Credentials::Principal(Principal { realm, username, proof, service: None }), None));
        }
        let user = self.user.as_ref().ok_or("neither an account nor a cache is given")?;
        let password = password()?;
        let (domain, user) = user.split_once('\\').unwrap_or(("", user));
        Ok((Credentials::new(domain, user, password), None))
    }
}
