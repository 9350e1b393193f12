//! The header with which a proxy tells whose connection it passes on: the PROXY protocol, versions 1 and 2
//! (<https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>).
//!
//! Only connections from the operator's own proxies may begin with it, and these must: a client could write any address
//! there. The header is looked at before it is read, so that nothing behind it is touched.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use salver_model::limits::PROXY_HEADER_BYTES_MAX;
use salver_model::network::Network;

use crate::peer::Peer;
use crate::socket::Socket;

/// Beginning of a header of version 2.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Beginning of a header of version 1.
const WORD: &[u8; 6] = b"PROXY ";
/// Longest header of version 1, with its end (section 2.1).
const LINE_BYTES: usize = 107;
/// Bytes of a header of version 2 before its addresses.
const FIXED_BYTES: usize = 16;
/// Bytes that are looked at first: with every header that has no long extensions.
const FIRST_BYTES: usize = 512;
/// Word of the settings for the callers of a Unix socket.
const UNIX: &str = "unix";
/// Pause before incomplete data is looked at again: it stays readable, so only a timer can wait for more.
const PAUSE: Duration = Duration::from_millis(5);

/// The proxies whose connections begin with a header.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustedProxies {
    networks: Vec<Network>,
    unix: bool,
}

/// What the first bytes of a connection are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parsed {
    /// A header of so many bytes; the address of the client, if it tells one.
    Header(usize, Option<IpAddr>),
    /// The beginning of a header, which has so many bytes at least.
    Incomplete(usize),
    /// No header.
    Invalid,
}

impl TrustedProxies {
    /// Returns those of the settings.
    pub(crate) fn new(texts: &[String]) -> Self {
        let networks = texts.iter().filter_map(|text| Network::parse(text)).collect();
        Self { networks, unix: texts.iter().any(|text| text == UNIX) }
    }

    /// Returns whether the peer is one of them.
    pub(crate) fn has(&self, peer: &Peer) -> bool {
        match peer.address() {
            Some(address) => self.networks.iter().any(|network| network.holds(address)),
            None => self.unix,
        }
    }
}

/// Reads the header that a connection of `proxy` begins with, and returns the client that it tells of; the proxy itself
/// for a connection of its own, or one of unknown origin. `None` when there is no valid header.
pub(crate) async fn receive(socket: &mut Socket, proxy: &Peer) -> Option<Peer> {
    let mut buffer = vec![0; FIRST_BYTES];
    let mut last = 0;
    loop {
        let count = socket.peek(&mut buffer).await.ok().filter(|count| *count > 0)?;
        match parse(&buffer[..count]) {
            Parsed::Header(length, address) => {
                socket.skip(length).await.ok()?;
                return Some(address.map_or_else(|| proxy.clone(), Peer::at));
            }
            Parsed::Incomplete(least) => {
                if least > buffer.len() {
                    buffer.resize(least, 0);
                }
                if count == last {
                    tokio::time::sleep(PAUSE).await;
                }
                last = count;
            }
            Parsed::Invalid => return None,
        }
    }
}

/// Parses the header at the beginning of `bytes`.
fn parse(bytes: &[u8]) -> Parsed {
    let begins = |with: &[u8]| {
        let count = bytes.len().min(with.len());
        bytes[..count] == with[..count]
    };
    if begins(SIGNATURE) {
        second(bytes)
    } else if begins(WORD) {
        first(bytes)
    } else {
        Parsed::Invalid
    }
}

/// Parses a header of version 1 (section 2.1).
fn first(bytes: &[u8]) -> Parsed {
    let within = &bytes[..bytes.len().min(LINE_BYTES)];
    let Some(end) = within.windows(2).position(|two| two == b"\r\n") else {
        return if within.len() < LINE_BYTES { Parsed::Incomplete(within.len() + 1) } else { Parsed::Invalid };
    };
    let Ok(line) = std::str::from_utf8(&within[..end]) else { return Parsed::Invalid };
    let words: Vec<&str> = line.split(' ').collect();
    let length = end + 2;
    let is_port = |text: &str| text.parse::<u16>().is_ok() && text.bytes().all(|byte| byte.is_ascii_digit());
    match words[..] {
        // What follows is ignored.
        ["PROXY", "UNKNOWN", ..] => Parsed::Header(length, None),
        ["PROXY", family @ ("TCP4" | "TCP6"), source, destination, from, to] if is_port(from) && is_port(to) => {
            let of_family = |text: &str| {
                let address: Option<IpAddr> = text.parse().ok();
                address.filter(|address| address.is_ipv4() == (family == "TCP4"))
            };
            match (of_family(source), of_family(destination)) {
                (Some(source), Some(_)) => Parsed::Header(length, Some(source)),
                _ => Parsed::Invalid,
            }
        }
        _ => Parsed::Invalid,
    }
}

/// Parses a header of version 2 (section 2.2). Its extensions are skipped.
fn second(bytes: &[u8]) -> Parsed {
    let Some(fixed) = bytes.first_chunk::<FIXED_BYTES>() else { return Parsed::Incomplete(FIXED_BYTES) };
    let [.., what, family, high, low] = *fixed;
    let length = FIXED_BYTES + usize::from(u16::from_be_bytes([high, low]));
    if what >> 4 != 2 || length > PROXY_HEADER_BYTES_MAX {
        return Parsed::Invalid;
    }
    let Some(addresses) = bytes.get(FIXED_BYTES..length) else { return Parsed::Incomplete(length) };
    let source = match (what & 0x0F, family) {
        // A connection of the proxy's own, as for its checks of the server's health.
        (0, _) => None,
        (1, 0x11 | 0x12) if addresses.len() >= 12 => {
            addresses.first_chunk::<4>().map(|octets| IpAddr::V4(Ipv4Addr::from(*octets)))
        }
        (1, 0x21 | 0x22) if addresses.len() >= 36 => {
            addresses.first_chunk::<16>().map(|octets| IpAddr::V6(Ipv6Addr::from(*octets)))
        }
        // Of unknown origin, or of a Unix socket of the proxy's machine.
        (1, 0x00) => None,
        (1, 0x31 | 0x32) if addresses.len() >= 216 => None,
        _ => return Parsed::Invalid,
    };
    Parsed::Header(length, source)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::{Parsed, TrustedProxies, parse};
    use crate::peer::Peer;

    /// A header of version 2.
    fn second(what: u8, family: u8, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(body.len()).unwrap().to_be_bytes();
        [b"\r\n\r\n\0\r\nQUIT\n".as_slice(), &[what, family], &length, body].concat()
    }

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn headers() {
        let four = [&[192, 0, 2, 1, 10, 0, 0, 1], [0x30, 0x39, 0, 80].as_slice()].concat();
        let six = [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7].as_slice(), &[0; 20]].concat();
        let long =
            "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535";
        let long_unknown = long.replace("TCP6", "UNKNOWN");
        for (header, address) in [
            (b"PROXY TCP4 192.0.2.1 10.0.0.1 12345 80\r\n".to_vec(), ip("192.0.2.1")),
            (b"PROXY TCP6 2001:db8::7 ::1 12345 80\r\n".to_vec(), ip("2001:db8::7")),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (format!("{long}\r\n").into_bytes(), ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")),
            (format!("{long_unknown}\r\n").into_bytes(), None),
            (second(0x21, 0x11, &four), ip("192.0.2.1")),
            (second(0x21, 0x11, &[four.clone(), vec![4; 700]].concat()), ip("192.0.2.1")),
            (second(0x21, 0x21, &six), ip("2001:db8::7")),
            (second(0x20, 0x00, &[]), None),
            (second(0x20, 0x11, &four), None),
            (second(0x21, 0x00, &[1, 2, 3]), None),
            (second(0x21, 0x31, &[0; 216]), None),
        ] {
            let with_more = [header.as_slice(), b"GET / HTTP/1.1\r\n\r\n"].concat();
            assert_eq!(parse(&with_more), Parsed::Header(header.len(), address), "{header:?}");
            assert_eq!(parse(&header), Parsed::Header(header.len(), address), "{header:?}");
            for end in 1..header.len() {
                // It asks for more, and never for more than there is.
                match parse(&header[..end]) {
                    Parsed::Incomplete(least) => assert!(least > end && least <= header.len(), "{header:?} {end}"),
                    other => panic!("{other:?} for {end} bytes of {header:?}"),
                }
            }
        }
    }

    #[test]
    fn what_is_no_header() {
        let four = [192, 0, 2, 1, 10, 0, 0, 1, 0, 1, 0, 2];
        let overlong = format!("PROXY UNKNOWN {}\r\n", "a".repeat(100));
        for bytes in [
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            b"\x16\x03\x01".to_vec(),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            b"PROXY\r\n".to_vec(),
            b"PROXY  TCP4 192.0.2.1 10.0.0.1 1 2\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 10.0.0.1 1\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 10.0.0.1 1 2 3\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 10.0.0.1 1 65536\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 10.0.0.1 +1 2\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.256 10.0.0.1 1 2\r\n".to_vec(),
            b"PROXY TCP4 ::1 ::1 1 2\r\n".to_vec(),
            b"PROXY TCP6 192.0.2.1 10.0.0.1 1 2\r\n".to_vec(),
            b"PROXY TCP5 192.0.2.1 10.0.0.1 1 2\r\n".to_vec(),
            b"proxy TCP4 192.0.2.1 10.0.0.1 1 2\r\n".to_vec(),
            b"PROXY TCP4 \xff 10.0.0.1 1 2\r\n".to_vec(),
            overlong.into_bytes(),
            second(0x11, 0x11, &four),
            second(0x31, 0x11, &four),
            second(0x22, 0x11, &four),
            second(0x21, 0x11, &four[..11]),
            second(0x21, 0x13, &four),
            second(0x21, 0x21, &four),
            second(0x21, 0x31, &four),
            // Longer than anything that is read.
            second(0x20, 0x00, &[0; 5_000])[..16].to_vec(),
        ] {
            assert_eq!(parse(&bytes), Parsed::Invalid, "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn who_is_trusted() {
        let peer = |address: &str| Peer::at(address.parse().unwrap());
        let trusted = TrustedProxies::new(&["10.0.0.0/8".to_owned(), "::1".to_owned()]);
        assert!(trusted.has(&peer("10.1.2.3")) && trusted.has(&peer("::ffff:10.1.2.3")) && trusted.has(&peer("::1")));
        assert!(!trusted.has(&peer("11.0.0.1")) && !trusted.has(&Peer::local(Some(0))));
        assert!(TrustedProxies::new(&["unix".to_owned()]).has(&Peer::local(Some(0))));
        assert!(!TrustedProxies::default().has(&peer("127.0.0.1")));
    }
}
