//! Regular expressions as Go reads them, written as our engine reads them. The two agree on what most signs mean; here are
//! the others: classes of ASCII, braces that count nothing, `\Q…\E`, octal numbers, names of groups, signs in classes.

use std::{iter::Peekable, str::Chars};

/// A pattern for our engine, in which no group has a name, and the names of the groups.
pub(super) struct Translated {
    pub(super) pattern: String,
    pub(super) names: Vec<Option<String>>,
}

/// Go's bound of how often a part may be repeated.
const MOST_REPEATED: u32 = 1000;

/// The pattern for our engine. What this does not look at, the engine refuses or takes.
///
/// # Errors
/// A fragment.
pub(super) fn translate(pattern: &str) -> Result<Translated, String> {
    let mut reader =
        Reader { rest: pattern.chars().peekable(), out: String::new(), names: Vec::new(), repeated: false };
    while let Some(c) = reader.rest.next() {
        reader.piece(c)?;
    }
    Ok(Translated { pattern: reader.out, names: reader.names })
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    names: Vec<Option<String>>,
    /// Is what was read last a sign of repetition?
    repeated: bool,
}

impl Reader<'_> {
    fn piece(&mut self, c: char) -> Result<(), String> {
        let was_repeated = std::mem::take(&mut self.repeated);
        match c {
            '*' | '+' | '?' => {
                if was_repeated {
                    return Err(format!("invalid nested repetition operator {c}"));
                }
                self.out.push(c);
                self.lazy();
            }
            '{' => match self.count()? {
                Some(_) if was_repeated => return Err("invalid nested repetition operator {".to_owned()),
                Some(count) => {
                    self.out.push_str(&count);
                    self.lazy();
                }
                None => self.literal('{'),
            },
            '}' => self.literal('}'),
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => self.group()?,
            c => self.out.push(c),
        }
        Ok(())
    }

    /// The sign after a repetition that it is to be as short as possible.
    fn lazy(&mut self) {
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        self.repeated = true;
    }

    fn literal(&mut self, c: char) {
        self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    /// `{2,5}`, without its first sign, if it is that.
    fn count(&mut self) -> Result<Option<String>, String> {
        let mut ahead = self.rest.clone();
        let mut text = String::from("{");
        let number = |ahead: &mut Peekable<Chars<'_>>, text: &mut String| {
            let start = text.len();
            while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
                text.push(digit);
            }
            text[start..].to_owned()
        };
        let least = number(&mut ahead, &mut text);
        let mut most = least.clone();
        if ahead.next_if_eq(&',').is_some() {
            text.push(',');
            most = number(&mut ahead, &mut text);
        }
        if least.is_empty() || ahead.next_if_eq(&'}').is_none() {
            return Ok(None);
        }
        text.push('}');
        let too_many = |digits: &str| !digits.is_empty() && digits.parse().map_or(true, |n: u32| n > MOST_REPEATED);
        if too_many(&least) || too_many(&most) {
            return Err(format!("invalid repeat count {text}: the most is {MOST_REPEATED}"));
        }
        self.rest = ahead;
        Ok(Some(text))
    }

    fn group(&mut self) -> Result<(), String> {
        if self.rest.next_if_eq(&'?').is_none() {
            self.out.push('(');
            self.names.push(None);
            return Ok(());
        }
        let mut ahead = self.rest.clone();
        ahead.next_if_eq(&'P');
        if ahead.next_if_eq(&'<').is_some() {
            let mut name = String::new();
            while let Some(c) = ahead.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                name.push(c);
            }
            // What else begins so looks around, and is told by the engine.
            if !name.is_empty() && ahead.next_if_eq(&'>').is_some() {
                self.rest = ahead;
                self.out.push('(');
                self.names.push(Some(name));
                return Ok(());
            }
            return Err("invalid named capture, or a group that looks around, which is not supported".to_owned());
        }
        self.out.push_str("(?");
        while let Some(c) = self.rest.next_if(|c| !matches!(c, ')' | ':')) {
            if !"imsU-".contains(c) {
                return Err(format!("invalid or unsupported syntax in (?{c}"));
            }
            self.out.push(c);
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(c) = self.rest.next() else { return Err("trailing backslash at end of expression".to_owned()) };
        match c {
            'Q' => {
                while let Some(c) = self.rest.next() {
                    if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                        break;
                    }
                    self.literal(c);
                }
            }
            'b' => self.out.push_str("(?-u:\\b)"),
            'A' | 'B' | 'z' => {
                self.out.push('\\');
                self.out.push(c);
            }
            c => match perl(c) {
                Some((negated, members)) => {
                    self.out.push_str(if negated { "[^" } else { "[" });
                    self.out.push_str(members);
                    self.out.push(']');
                }
                None if matches!(c, 'p' | 'P') => self.property(c)?,
                None => {
                    let c = self.character(c)?;
                    self.literal(c);
                }
            },
        }
        Ok(())
    }

    /// The character that an escape stands for, from the sign after the backslash.
    fn character(&mut self, c: char) -> Result<char, String> {
        let invalid = || format!("invalid escape sequence \\{c}");
        let code = match c {
            'a' => 0x07,
            'f' => 0x0c,
            't' => 0x09,
            'n' => 0x0a,
            'r' => 0x0d,
            'v' => 0x0b,
            '0'..='7' => {
                let is_octal = |c: &char| c.is_digit(8);
                // One digit would be a reference to a group.
                if c != '0' && !self.rest.peek().is_some_and(is_octal) {
                    return Err(invalid());
                }
                let mut code = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = self.rest.next_if(is_octal) else { break };
                    code = code * 8 + digit.to_digit(8).unwrap_or(0);
                }
                code
            }
            'x' => {
                let braced = self.rest.next_if_eq(&'{').is_some();
                let mut digits = String::new();
                while let Some(digit) = self.rest.next_if(|c| c.is_ascii_hexdigit() && (braced || digits.len() < 2)) {
                    digits.push(digit);
                }
                let complete = if braced { self.rest.next_if_eq(&'}').is_some() } else { digits.len() == 2 };
                u32::from_str_radix(&digits, 16).ok().filter(|_| complete).ok_or_else(invalid)?
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(c),
            _ => return Err(invalid()),
        };
        char::from_u32(code).ok_or_else(invalid)
    }

    /// `\pL`, `\p{Greek}`, `\p{^Greek}`.
    fn property(&mut self, kind: char) -> Result<(), String> {
        let invalid = || format!("invalid character class range \\{kind}");
        let mut name = String::new();
        match self.rest.next().ok_or_else(invalid)? {
            '{' => loop {
                match self.rest.next().ok_or_else(invalid)? {
                    '}' => break,
                    c => name.push(c),
                }
            },
            c => name.push(c),
        }
        let (negated, name) = match name.strip_prefix('^') {
            Some(name) => (kind == 'p', name),
            None => (kind == 'P', name.as_str()),
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(invalid());
        }
        self.out.push_str(&format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' }));
        Ok(())
    }

    /// The rest of `[a-z]`.
    fn class(&mut self) -> Result<(), String> {
        let missing = || "missing closing ]".to_owned();
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let c = self.rest.next().ok_or_else(missing)?;
            match c {
                ']' if !first => {
                    self.out.push(']');
                    return Ok(());
                }
                '[' if self.named_class()? => {}
                '\\' => {
                    let c = self.rest.next().ok_or_else(missing)?;
                    match perl(c) {
                        Some((true, members)) => self.out.push_str(&format!("[^{members}]")),
                        Some((false, members)) => self.out.push_str(members),
                        None if matches!(c, 'p' | 'P') => self.property(c)?,
                        None => {
                            let c = self.character(c)?;
                            self.range(c)?;
                        }
                    }
                }
                c => self.range(c)?,
            }
            first = false;
        }
    }

    /// `[:alpha:]`, without its first sign; is it that?
    fn named_class(&mut self) -> Result<bool, String> {
        const NAMES: &[&str] = &[
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
            "word", "xdigit",
        ];
        let rest: String = self.rest.clone().collect();
        let Some((inner, _)) = rest.strip_prefix(':').and_then(|rest| rest.split_once(":]")) else { return Ok(false) };
        if !NAMES.contains(&inner.strip_prefix('^').unwrap_or(inner)) {
            return Err(format!("invalid character class range [:{inner}:]"));
        }
        self.out.push_str(&format!("[:{inner}:]"));
        // What has been read: a colon, the name, a colon and a bracket, all of one byte each.
        self.rest.nth(inner.len() + 2);
        Ok(true)
    }

    /// One character of a class, or a range that begins with it.
    fn range(&mut self, low: char) -> Result<(), String> {
        let code = |c: char| format!("\\x{{{:x}}}", u32::from(c));
        self.out.push_str(&code(low));
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') || matches!(ahead.peek(), None | Some(']')) {
            return Ok(());
        }
        self.rest.next();
        let high = match self.rest.next() {
            Some('\\') => {
                let c = self.rest.next().unwrap_or('\\');
                self.character(c)?
            }
            Some(c) => c,
            None => return Ok(()),
        };
        if high < low {
            return Err(format!("invalid character class range {low}-{high}"));
        }
        self.out.push('-');
        self.out.push_str(&code(high));
        Ok(())
    }
}

/// The classes of Perl, which are of ASCII: are they negated, and what is in them.
fn perl(c: char) -> Option<(bool, &'static str)> {
    Some(match c {
        'd' => (false, "0-9"),
        'D' => (true, "0-9"),
        'w' => (false, "0-9A-Za-z_"),
        'W' => (true, "0-9A-Za-z_"),
        's' => (false, "\\t\\n\\f\\r "),
        'S' => (true, "\\t\\n\\f\\r "),
        _ => return None,
    })
}
