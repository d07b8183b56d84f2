use hickory_resolver::proto::rr::Name;

/// The names to look up for `host`, in order: `host` itself, and `host` with each search domain appended. With at least
/// `ndots` dots `host` itself comes first, with fewer last. Nothing is appended to a name that ends with a dot.
///
/// `Err` is the reason why `host` cannot be a name.
pub(crate) fn candidates(host: &str, search: &[Name], ndots: u32) -> Result<Vec<Name>, String> {
    let mut absolute =
        Name::from_str_relaxed(host).map_err(|error| format!("`{host}` is no legal name: {error}"))?;
    if absolute.is_fqdn() {
        return Ok(vec![absolute]);
    }
    let relative = absolute.clone();
    absolute.set_fqdn(true);
    let mut names: Vec<Name> = Vec::with_capacity(search.len() + 1);
    // A name that became too long is skipped.
    for name in search.iter().filter_map(|domain| relative.clone().append_domain(domain).ok()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.retain(|name| *name != absolute);
    let dots = host.bytes().filter(|byte| *byte == b'.').count();
    let at = if dots >= ndots as usize { 0 } else { names.len() };
    names.insert(at, absolute);
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, ndots: u32, expected: &[&str]) {
        let search = ["corp.example", "lab.example."].map(|name| {
            let mut name = Name::from_str_relaxed(name).unwrap();
            name.set_fqdn(true);
            name
        });
        let names = candidates(host, &search, ndots).unwrap();
        assert_eq!(names.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "{host}");
    }

    #[test]
    fn search_domains_come_before_a_name_with_few_dots_and_behind_one_with_many() {
        check("web1", 1, &["web1.corp.example.", "web1.lab.example.", "web1."]);
        check("web1.site", 1, &["web1.site.", "web1.site.corp.example.", "web1.site.lab.example."]);
        check("web1.site", 2, &["web1.site.corp.example.", "web1.site.lab.example.", "web1.site."]);
        check("web1.", 1, &["web1."]);
        check("web1", 0, &["web1.", "web1.corp.example.", "web1.lab.example."]);
        check("WEB_1", 1, &["WEB_1.corp.example.", "WEB_1.lab.example.", "WEB_1."]);
    }

    #[test]
    fn a_label_that_is_too_long_makes_no_name() {
        assert!(candidates(&"x".repeat(64), &[], 1).unwrap_err().contains("no legal name"));
    }
}
