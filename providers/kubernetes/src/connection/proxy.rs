//! Through which proxy a server is reached, as the environment says it, by the rules of Go's clients: `HTTPS_PROXY` or
//! `HTTP_PROXY` after the server's scheme, but not for what `NO_PROXY` names, and never for this machine itself.

use std::net::IpAddr;

use http::Uri;
use providers_api::ProviderError;

use super::Environment;

/// Reads a proxy's address. `from`: the argument, field or variable that says it. The address is not repeated: it may
/// hold a password.
pub(super) fn parse(text: &str, from: &str) -> Result<Uri, ProviderError> {
    let bad = |why: &str| {
        ProviderError::permanent(format!("{from} is no address of a proxy: {why}"))
            .hint("Write it as http://host:port, https://host:port or socks5://host:port.")
    };
    let text = match text.split_once("://") {
        // Names are resolved by the proxy either way.
        Some(("socks5h", rest)) => format!("socks5://{rest}"),
        Some(_) => text.to_owned(),
        None => format!("http://{text}"),
    };
    let url: Uri = text.parse().map_err(|_| bad("it is no URL"))?;
    match url.scheme_str() {
        Some("socks5") if url.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            Err(bad("a password for a SOCKS5 proxy is not supported"))
        }
        Some("http" | "https" | "socks5") if url.host().is_some_and(|host| !host.is_empty()) => Ok(url),
        Some("http" | "https" | "socks5") => Err(bad("it has no host")),
        _ => Err(bad("its scheme is none of http, https and socks5")),
    }
}

/// The proxy that the environment names for a server.
pub(super) fn from_environment(server: &Uri, environment: &Environment) -> Result<Option<Uri>, ProviderError> {
    let names = match server.scheme_str() {
        Some("http") => ["HTTP_PROXY", "http_proxy"],
        _ => ["HTTPS_PROXY", "https_proxy"],
    };
    let set = names.into_iter().find_map(|name| Some((name, environment.variable(name)?)));
    let Some((name, proxy)) = set else { return Ok(None) };
    let none = environment.variable("NO_PROXY").or_else(|| environment.variable("no_proxy")).unwrap_or_default();
    if is_excepted(server, none) { Ok(None) } else { parse(proxy, name).map(Some) }
}

fn is_excepted(server: &Uri, list: &str) -> bool {
    let Some(host) = server.host() else { return true };
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_lowercase();
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("http") { 80 } else { 443 });
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    list.split(',').map(|entry| entry.trim().to_lowercase()).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        if let Some((network, bits)) = entry.split_once('/') {
            let (Ok(network), Ok(bits)) = (network.parse(), bits.parse()) else { return false };
            return address.is_some_and(|address| is_within(address, network, bits));
        }
        let (name, only) = match entry.rsplit_once(':') {
            // More than one colon without brackets is an address of version 6, and no port.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name.to_owned(), port.parse().ok()),
            _ => (entry.clone(), None),
        };
        if only.is_some_and(|only: u16| only != port) {
            return false;
        }
        let name = name.trim_start_matches('[').trim_end_matches(']');
        if let Ok(named) = name.parse::<IpAddr>() {
            return address == Some(named);
        }
        match name.strip_prefix('*').unwrap_or(name).strip_prefix('.') {
            Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
            None => host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
        }
    })
}

fn is_within(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_proxy_names_is_reached_directly() {
        for (server, list, expected) in [
            ("https://k8s.example.com:6443", "", false),
            ("https://localhost:6443", "", true),
            ("https://127.1.2.3:6443", "", true),
            ("https://[::1]:6443", "", true),
            ("https://k8s.example.com:6443", "*", true),
            ("https://k8s.example.com:6443", "example.com", true),
            ("https://notexample.com", "example.com", false),
            ("https://example.com", ".example.com", false),
            ("https://k8s.example.com", ".example.com", true),
            ("https://k8s.example.com", "other.org, *.EXAMPLE.com", true),
            ("https://k8s.example.com:6443", "k8s.example.com:443", false),
            ("https://k8s.example.com", "k8s.example.com:443", true),
            ("https://10.1.2.3:6443", "10.0.0.0/8", true),
            ("https://11.1.2.3:6443", "10.0.0.0/8", false),
            ("https://11.1.2.3:6443", "0.0.0.0/0", true),
            ("https://10.1.2.3:6443", "10.1.2.3", true),
            ("https://10.1.2.3:6443", "10.1.2.3:80", false),
            ("https://[fd00::1]:6443", "fd00::/8", true),
            ("https://[fd00::1]:6443", "fd00::1", true),
        ] {
            assert_eq!(is_excepted(&server.parse().unwrap(), list), expected, "{server} {list}");
        }
    }

    #[test]
    fn the_scheme_of_the_server_decides_which_variable_counts() {
        let variables = [("HTTPS_PROXY", "proxy:3128"), ("http_proxy", "http://other:80"), ("no_proxy", "b.example")];
        let variables = variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let environment = Environment { variables, ..Environment::default() };
        for (server, expected) in [
            ("https://a.example", Some("http://proxy:3128/")),
            ("http://a.example", Some("http://other/")),
            ("https://b.example", None),
        ] {
            let found = from_environment(&server.parse().unwrap(), &environment).unwrap();
            assert_eq!(found.map(|url| url.to_string().replace(":80/", "/")).as_deref(), expected, "{server}");
        }
    }

    #[test]
    fn a_wrong_address_is_refused_without_its_password() {
        for (text, expected) in [
            ("ftp://u:canary@a", "its scheme is none of http, https and socks5"),
            ("socks5://u:canary@a:1080", "a password for a SOCKS5 proxy is not supported"),
            ("http://u:canary@a b", "it is no URL"),
        ] {
            let error = parse(text, "`proxy_url`").unwrap_err();
            assert_eq!(error.to_string(), format!("`proxy_url` is no address of a proxy: {expected}"));
        }
        assert_eq!(parse("socks5h://a:1080", "x").unwrap().to_string(), "socks5://a:1080/");
    }
}
