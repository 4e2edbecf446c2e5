//! Colour, or none.

use anstyle::{AnsiColor, Style};

/// Paints, or leaves text as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Does the reader see colour?
    pub(crate) color: bool,
}

impl Paint {
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    pub(crate) fn color(self, color: AnsiColor, text: &str) -> String {
        self.paint(Style::new().fg_color(Some(color.into())), text)
    }

    /// A symbol of a plan in its own colour: `+` green, `-` red, `~` yellow, `<=` cyan.
    pub(crate) fn symbol(self, symbol: &str) -> String {
        match symbol.trim() {
            "+" => self.color(AnsiColor::Green, symbol),
            "-" => self.color(AnsiColor::Red, symbol),
            "~" => self.color(AnsiColor::Yellow, symbol),
            "<=" => self.color(AnsiColor::Cyan, symbol),
            "-/+" => format!("{}/{}", self.color(AnsiColor::Red, "-"), self.color(AnsiColor::Green, "+")),
            "+/-" => format!("{}/{}", self.color(AnsiColor::Green, "+"), self.color(AnsiColor::Red, "-")),
            _ => symbol.to_owned(),
        }
    }
}
