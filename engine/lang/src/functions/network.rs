//! Networks in CIDR notation: `10.0.0.0/8`, `fd00::/48`.

use std::net::{Ipv4Addr, Ipv6Addr};

use engine_value::{Number, Type, Value};

use crate::functions::{CallError, Function, Parameter};

const PREFIX: Parameter = Parameter::string("prefix").described("A network, as in `10.0.0.0/8`.");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "cidrhost",
        description: "The address of one host in a network, by its number. A negative number counts from the end.",
        parameters: &[PREFIX, Parameter::number("hostnum").described("The number of the host, from 0.")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| host(&args[0], &args[1]),
    },
    Function {
        name: "cidrnetmask",
        description: "The netmask of an IPv4 network, as four numbers with dots.",
        parameters: &[PREFIX],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| {
            let network = network(&args[0])?;
            if network.bits != IPV4 {
                return Err(CallError::argument(0, "IPv6 addresses cannot have a netmask: use the prefix length"));
            }
            Ok(Value::string(Network { address: network.mask(), ..network }.address_text()))
        },
    },
    Function {
        name: "cidrsubnet",
        description: "One subnet of a network, by its number, with a prefix that is longer by some bits.",
        parameters: &[
            PREFIX,
            Parameter::number("newbits").described("By how many bits its prefix is longer."),
            Parameter::number("netnum").described("The number of the subnet, from 0."),
        ],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| subnet(args),
    },
    Function {
        name: "cidrsubnets",
        description: "Consecutive subnets of a network, each with a prefix that is longer by the given bits.",
        parameters: &[PREFIX],
        variadic: Some(Parameter::number("newbits")),
        returns: |_| Ok(Type::list(Type::String)),
        run: |args, _| subnets(args),
    },
];

const IPV4: u32 = 32;
const IPV6: u32 = 128;

/// A network: the bits of its address, how many there are, and how many of them are the prefix.
#[derive(Clone, Copy)]
struct Network {
    address: u128,
    bits: u32,
    prefix: u32,
}

impl Network {
    /// The address is as it is written: bits after the prefix may be set.
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let (address, bits) = match address.contains(':') {
            true => (ipv6(address)?.to_bits(), IPV6),
            false => (u128::from(ipv4(address)?), IPV4),
        };
        let is_number = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = prefix.parse().ok().filter(|prefix| is_number && *prefix <= bits)?;
        Some(Self { address, bits, prefix })
    }

    /// All bits of an address.
    fn all(self) -> u128 {
        if self.bits == IPV4 { u128::from(u32::MAX) } else { u128::MAX }
    }

    /// The last number of a host.
    fn last_host(self) -> u128 {
        self.all().checked_shr(self.prefix).unwrap_or(0)
    }

    fn mask(self) -> u128 {
        self.all() & !self.last_host()
    }

    /// The first address.
    fn base(self) -> u128 {
        self.address & self.mask()
    }

    fn address_text(self) -> String {
        let low = u32::try_from(self.address).unwrap_or(u32::MAX);
        if self.bits == IPV4 {
            return Ipv4Addr::from(low).to_string();
        }
        let address = Ipv6Addr::from(self.address);
        // As in Terraform, where an address of version 4 has one form.
        address.to_ipv4_mapped().map_or_else(|| address.to_string(), |address| address.to_string())
    }

    fn text(self) -> String {
        format!("{}/{}", self.address_text(), self.prefix)
    }
}

/// Four decimal numbers. Zeros may lead, and do not make them octal.
fn ipv4(text: &str) -> Option<u32> {
    let mut address: u32 = 0;
    let mut parts = 0;
    for part in text.split('.') {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let number = part.parse::<u8>().ok().filter(|_| is_number && parts < 4)?;
        address = address << 8 | u32::from(number);
        parts += 1;
    }
    (parts == 4).then_some(address)
}

/// Zeros may lead in a group, however many.
fn ipv6(text: &str) -> Option<Ipv6Addr> {
    let groups: Vec<&str> = text
        .split(':')
        .map(|group| {
            let excess = group.len().saturating_sub(4);
            group.get(excess..).filter(|_| group.bytes().take(excess).all(|byte| byte == b'0')).unwrap_or(group)
        })
        .collect();
    groups.join(":").parse().ok()
}

fn network(value: &Value) -> Result<Network, CallError> {
    let text = value.as_str().unwrap_or_default();
    Network::parse(text)
        .ok_or_else(|| CallError::argument(0, format!("invalid CIDR expression: \"{text}\" is no network address")))
}

/// A whole number: is it negative, and what without its sign; `None` beyond every address.
fn whole(args: &[Value], at: usize) -> Result<(bool, Option<u128>), CallError> {
    let number = args[at].as_number().cloned().unwrap_or_else(|| Number::from(0));
    let digits = number.to_radix(10).ok_or_else(|| CallError::argument(at, "a whole number is required"))?;
    let magnitude = digits.strip_prefix('-').unwrap_or(&digits);
    Ok((digits.starts_with('-'), magnitude.parse().ok()))
}

fn host(prefix: &Value, number: &Value) -> Result<Value, CallError> {
    let (is_negative, magnitude) = whole(&[prefix.clone(), number.clone()], 1)?;
    let network = network(prefix)?;
    let last = network.last_host();
    let found = match (is_negative, magnitude) {
        (false, Some(number)) => Some(number).filter(|number| *number <= last),
        (true, Some(0)) => Some(0),
        (true, Some(back)) => last.checked_sub(back - 1),
        (_, None) => None,
    };
    let Some(found) = found else {
        let number = number.as_number().map_or_else(String::new, Number::to_string);
        let message = format!("prefix of {} does not accommodate a host numbered {number}", network.prefix);
        return Err(CallError::argument(1, message));
    };
    Ok(Value::string(Network { address: network.base() | found, ..network }.address_text()))
}

/// How much longer a prefix becomes.
fn new_bits(args: &[Value], at: usize) -> Result<u32, CallError> {
    match whole(args, at)? {
        (true, Some(1..)) | (true, None) => Err(CallError::argument(at, "must not be negative")),
        (_, bits) => Ok(bits.and_then(|bits| u32::try_from(bits).ok()).unwrap_or(u32::MAX)),
    }
}

fn longer(network: Network, bits: u32, at: usize) -> Result<Network, CallError> {
    match network.prefix.checked_add(bits).filter(|prefix| *prefix <= network.bits) {
        Some(prefix) => Ok(Network { address: network.base(), prefix, ..network }),
        None => {
            let message = format!("insufficient address space to extend prefix of {} by {bits}", network.prefix);
            Err(CallError::argument(at, message))
        }
    }
}

fn subnet(args: &[Value]) -> Result<Value, CallError> {
    let bits = new_bits(args, 1)?;
    let (is_negative, number) = whole(args, 2)?;
    let network = network(&args[0])?;
    let subnet = longer(network, bits, 1)?;
    let last = network.last_host().checked_shr(subnet.bits - subnet.prefix).unwrap_or(0);
    match number.filter(|number| *number <= last && (!is_negative || *number == 0)) {
        Some(number) => {
            let offset = number.checked_shl(subnet.bits - subnet.prefix).unwrap_or(0);
            Ok(Value::string(Network { address: subnet.address | offset, ..subnet }.text()))
        }
        None => {
            let number = args[2].as_number().map_or_else(String::new, Number::to_string);
            let message = format!("prefix extension of {bits} does not accommodate a subnet numbered {number}");
            Err(CallError::argument(2, message))
        }
    }
}

fn subnets(args: &[Value]) -> Result<Value, CallError> {
    let whole = network(&args[0])?;
    let mut subnets = Vec::with_capacity(args.len() - 1);
    let mut next = Some(whole.base());
    for at in 1..args.len() {
        let bits = new_bits(args, at)?;
        if bits == 0 {
            return Err(CallError::argument(at, "must extend prefix by at least one bit"));
        }
        let subnet = longer(whole, bits, at)?;
        // The first address from here on at which a network of this size may begin.
        let size = subnet.last_host();
        let start = next
            .and_then(|next| Some(next.checked_add(size)? & !size))
            .filter(|start| start & !whole.last_host() == whole.base());
        let Some(start) = start else {
            let message = format!(
                "not enough remaining address space for a subnet with a prefix of {} bits after {}",
                subnet.prefix,
                subnets.last().map_or_else(String::new, |last: &Value| last.as_str().unwrap_or_default().to_owned())
            );
            return Err(CallError::argument(at, message));
        };
        next = start.checked_add(size).and_then(|last| last.checked_add(1));
        subnets.push(Value::string(Network { address: start, ..subnet }.text()));
    }
    Ok(Value::list(Type::String, subnets))
}
