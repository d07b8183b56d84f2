use super::item::Item;

/// `web.external_url`: where others reach the exporter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalUrl {
    pub is_secure: bool,
    /// Host, and port if given.
    pub address: String,
    /// What is in front of every path, without a slash at its end; mostly empty.
    pub path: String,
}

pub(super) fn external_url(item: &Item<'_>) -> Option<ExternalUrl> {
    let text = item.text()?;
    let url = parse(text);
    if url.is_none() {
        let hint = "write it like `https://exporter.example.com:9483`".to_owned();
        item.problem(format!("`{text}` is no address of a web server"), Some(hint));
    }
    url
}

fn parse(text: &str) -> Option<ExternalUrl> {
    let (is_secure, rest) = match text.split_once("://")? {
        ("https", rest) => (true, rest),
        ("http", rest) => (false, rest),
        _ => return None,
    };
    let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match address.rsplit_once(':') {
        // The last colon of an IPv6 address is inside of its brackets.
        Some((_, behind)) if behind.ends_with(']') => (address, None),
        Some((host, port)) => (host, Some(port)),
        None => (address, None),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_host = !host.is_empty() && (super::hosts::address(host).is_some() || host.chars().all(is_name));
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let in_path = |c: char| is_name(c) || matches!(c, '/' | '~');
    (is_host && is_port && path.chars().all(in_path)).then(|| ExternalUrl {
        is_secure,
        address: address.to_owned(),
        path: path.trim_end_matches('/').to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_web_server_is_taken_apart() {
        let url = parse("https://mon.example.com/perfmon/").unwrap();
        assert!(url.is_secure);
        assert_eq!((url.address.as_str(), url.path.as_str()), ("mon.example.com", "/perfmon"));
        assert_eq!(parse("http://[::1]:9483").unwrap().address, "[::1]:9483");
        assert_eq!(parse("http://[::1]").unwrap().path, "");
        for bad in
            ["exporter:9483", "ftp://a", "http://", "http://a:b", "http://a:0", "http://a/?x", "http://a b"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
