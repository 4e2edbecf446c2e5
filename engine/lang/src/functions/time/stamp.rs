//! A point in time with its offset from UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// A point in time, and how its own clock differs from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::functions) struct Stamp {
    /// Seconds since 1970, UTC.
    seconds: i64,
    nanos: u32,
    /// Seconds that its own clock is ahead of UTC.
    pub(super) offset: i64,
}

/// A time as text: RFC 3339, UTC, seconds. What lies before 1970 is 1970.
pub fn rfc3339(time: SystemTime) -> String {
    Stamp::of(time).rfc3339()
}

/// What a clock and a calendar show.
pub(super) struct Shown {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    /// From 0, Sunday.
    pub(super) weekday: usize,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
}

const DAY: i64 = 86_400;

impl Stamp {
    /// Now, in UTC.
    pub(in crate::functions) fn of(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanos: since.subsec_nanos(), offset: 0 }
    }

    /// `2026-01-31T09:30:00.5+01:00`
    pub(in crate::functions) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = Rest(text);
        let year = rest.number(4, "year")?;
        rest.sign('-')?;
        let month = rest.number(2, "month")?;
        rest.sign('-')?;
        let day = rest.number(2, "day")?;
        rest.sign('T')?;
        let hour = rest.number(2, "hour")?;
        rest.sign(':')?;
        let minute = rest.number(2, "minute")?;
        rest.sign(':')?;
        let second = rest.number(2, "second")?;
        let nanos = rest.fraction();
        let offset = rest.offset()?;
        if !rest.0.is_empty() {
            return Err(format!("extra characters \"{}\" after it", rest.0));
        }
        let within = |what: &str, value: i64, least: i64, most: i64| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("the {what} must be between {least} and {most} inclusive")),
        };
        within("month", month, 1, 12)?;
        within("day", day, 1, days_in(year, month))?;
        within("hour", hour, 0, 23)?;
        within("minute", minute, 0, 59)?;
        within("second", second, 0, 59)?;
        let seconds = days_since_1970(year, month, day) * DAY + hour * 3_600 + minute * 60 + second - offset;
        Ok(Self { seconds, nanos, offset })
    }

    /// To compare with others.
    pub(super) fn instant(&self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    /// So many nanoseconds later.
    pub(super) fn plus(self, nanos: i64) -> Self {
        const SECOND: i64 = 1_000_000_000;
        let total = i64::from(self.nanos) + nanos.rem_euclid(SECOND);
        let seconds = self.seconds + nanos.div_euclid(SECOND) + total / SECOND;
        Self { seconds, nanos: u32::try_from(total % SECOND).unwrap_or(0), ..self }
    }

    pub(super) fn shown(&self) -> Shown {
        let local = self.seconds + self.offset;
        let (days, rest) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        let part = |value: i64| u32::try_from(value).unwrap_or(0);
        // 1970 began on a Thursday.
        let weekday = usize::try_from((days + 4).rem_euclid(7)).unwrap_or(0);
        Shown {
            year,
            month: part(month),
            day: part(day),
            weekday,
            hour: part(rest / 3_600),
            minute: part(rest / 60 % 60),
            second: part(rest % 60),
        }
    }

    /// Without parts of a second.
    pub(in crate::functions) fn rfc3339(&self) -> String {
        let Shown { year, month, day, hour, minute, second, .. } = self.shown();
        let zone = if self.offset == 0 { "Z".to_owned() } else { self.zone(":") };
        let sign = if year < 0 { "-" } else { "" };
        format!("{sign}{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}", year.abs())
    }

    /// `+01:00`, with that between hours and minutes.
    pub(super) fn zone(&self, between: &str) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        format!("{sign}{:02}{between}{:02}", minutes / 60, minutes % 60)
    }
}

/// What is left of a timestamp.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn number(&mut self, digits: usize, what: &str) -> Result<i64, String> {
        let found = self.0.get(..digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(found) = found else { return Err(format!("the {what} must have {digits} digits")) };
        self.0 = &self.0[digits..];
        found.parse().map_err(|_| format!("the {what} is no number"))
    }

    fn sign(&mut self, sign: char) -> Result<(), String> {
        match self.0.strip_prefix(sign) {
            Some(rest) => {
                self.0 = rest;
                Ok(())
            }
            None => Err(format!("{sign:?} is missing before \"{}\"", self.0)),
        }
    }

    /// Parts of a second; what is smaller than a nanosecond does not count.
    fn fraction(&mut self) -> u32 {
        let Some(rest) = self.0.strip_prefix('.') else { return 0 };
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return 0;
        }
        let digits = &rest[..length.min(9)];
        self.0 = &rest[length..];
        digits.parse::<u32>().unwrap_or(0) * 10u32.pow(9 - digits.len() as u32)
    }

    fn offset(&mut self) -> Result<i64, String> {
        let sign = match self.0.chars().next() {
            Some('Z') => {
                self.0 = &self.0[1..];
                return Ok(0);
            }
            Some('+') => 1,
            Some('-') => -1,
            _ => return Err("the offset from UTC must be Z, or as in +01:00".to_owned()),
        };
        self.0 = &self.0[1..];
        let hours = self.number(2, "offset from UTC")?;
        self.sign(':')?;
        let minutes = self.number(2, "offset from UTC")?;
        if hours > 23 || minutes > 59 {
            return Err("the offset from UTC is too large".to_owned());
        }
        Ok(sign * (hours * 3_600 + minutes * 60))
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// In eras of 400 years that begin on 1 March (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The reverse: year, month and day.
fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::rfc3339;

    #[test]
    fn times_are_dates_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_796_076_000, "2026-11-30T22:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
