//! The forms of `formatdate`: runs of one letter, text between single quotes, and signs that stand for themselves.

use super::stamp::{Shown, Stamp};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The timestamp in that form.
///
/// # Errors
/// A fragment.
pub(super) fn write(pattern: &str, stamp: &Stamp) -> Result<String, String> {
    let shown = stamp.shown();
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("''") {
            out.push('\'');
            rest = after;
            continue;
        }
        if first == '\'' {
            rest = quoted(&rest[1..], &mut out)?;
            continue;
        }
        let end = rest.find(|c| c != first).unwrap_or(rest.len());
        let run = &rest[..end];
        if first.is_ascii_alphabetic() {
            out.push_str(&field(run, stamp, &shown)?);
        } else {
            out.push_str(run);
        }
        rest = &rest[end..];
    }
    Ok(out)
}

/// Text up to the closing quote, where two quotes stand for one. Gives what follows.
fn quoted<'a>(text: &'a str, out: &mut String) -> Result<&'a str, String> {
    let mut rest = text;
    loop {
        let Some((before, after)) = rest.split_once('\'') else {
            return Err("unterminated literal: a closing quote ' is missing".to_owned());
        };
        out.push_str(before);
        match after.strip_prefix('\'') {
            Some(after) => {
                out.push('\'');
                rest = after;
            }
            None => return Ok(after),
        }
    }
}

fn field(run: &str, stamp: &Stamp, shown: &Shown) -> Result<String, String> {
    let month = MONTHS[(shown.month as usize).saturating_sub(1) % 12];
    let day = DAYS[shown.weekday];
    let hour = match shown.hour % 12 {
        0 => 12,
        hour => hour,
    };
    let half = if shown.hour < 12 { "am" } else { "pm" };
    Ok(match run {
        "YYYY" => format!("{:04}", shown.year),
        "YY" => format!("{:02}", shown.year % 100),
        "MMMM" => month.to_owned(),
        "MMM" => month[..3].to_owned(),
        "MM" => format!("{:02}", shown.month),
        "M" => shown.month.to_string(),
        "DD" => format!("{:02}", shown.day),
        "D" => shown.day.to_string(),
        "EEEE" => day.to_owned(),
        "EEE" => day[..3].to_owned(),
        "hh" => format!("{:02}", shown.hour),
        "h" => shown.hour.to_string(),
        "HH" => format!("{hour:02}"),
        "H" => hour.to_string(),
        "AA" => half.to_uppercase(),
        "aa" => half.to_owned(),
        "mm" => format!("{:02}", shown.minute),
        "m" => shown.minute.to_string(),
        "ss" => format!("{:02}", shown.second),
        "s" => shown.second.to_string(),
        "ZZZZZ" => stamp.zone(":"),
        "ZZZZ" => stamp.zone(""),
        "ZZZ" if stamp.offset == 0 => "UTC".to_owned(),
        "ZZZ" => stamp.zone(""),
        "Z" if stamp.offset == 0 => "Z".to_owned(),
        "Z" => stamp.zone(":"),
        _ => return Err(unknown(run)),
    })
}

/// What may stand there instead.
fn unknown(run: &str) -> String {
    let known = match run.as_bytes()[0] {
        b'Y' => "year must either be \"YY\" or \"YYYY\"",
        b'M' => "month must be \"M\", \"MM\", \"MMM\" or \"MMMM\"",
        b'D' => "day of month must either be \"D\" or \"DD\"",
        b'E' => "day of week must either be \"EEE\" or \"EEEE\"",
        b'h' | b'H' => "hour must be one of h or H, once or twice",
        b'A' | b'a' => "must be \"AA\" or \"aa\"",
        b'm' => "minute must either be \"m\" or \"mm\"",
        b's' => "second must either be \"s\" or \"ss\"",
        b'Z' => "timezone must be Z, ZZZ, ZZZZ or ZZZZZ",
        _ => "literal letters stand between single quotes",
    };
    format!("invalid date format verb \"{run}\": {known}")
}
