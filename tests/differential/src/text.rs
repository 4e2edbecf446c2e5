//! The text of a case as a tree of parts, so that it can be made smaller without being understood.

/// A piece of text that can stand alone, made of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub Vec<Piece>);

/// What a [`Text`] is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Just this.
    Plain(String),
    /// A part that can stand in the place of the whole.
    Part(Text),
    /// Any number of parts between separators: each can be left out.
    Many(&'static str, Vec<Text>),
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Self::Plain(text.to_owned())
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::Plain(text)
    }
}

impl From<Text> for Piece {
    fn from(text: Text) -> Self {
        Self::Part(text)
    }
}

/// A [`Text`] of pieces.
#[macro_export]
macro_rules! text {
    ($($piece:expr),* $(,)?) => { $crate::text::Text(vec![$($crate::text::Piece::from($piece)),*]) };
}

impl Text {
    /// A text that has no parts.
    pub fn plain(text: &str) -> Self {
        Self(vec![text.into()])
    }

    /// As it is written.
    pub fn written(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        for piece in &self.0 {
            match piece {
                Piece::Plain(text) => out.push_str(text),
                Piece::Part(part) => part.write(out),
                Piece::Many(separator, parts) => {
                    for (at, part) in parts.iter().enumerate() {
                        if at > 0 {
                            out.push_str(separator);
                        }
                        part.write(out);
                    }
                }
            }
        }
    }

    fn parts(&self) -> Vec<&Text> {
        let mut parts = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Plain(_) => {}
                Piece::Part(part) => parts.push(part),
                Piece::Many(_, many) => parts.extend(many),
            }
        }
        parts
    }

    /// The text with one thing taken away or made simple, in every way that there is.
    pub fn smaller(&self) -> Vec<Text> {
        let mut found: Vec<Text> = self.parts().into_iter().cloned().collect();
        if self.written().len() > 4 {
            found.extend(["null", "1", "\"a\"", "[]", "{}"].map(Text::plain));
        }
        for (at, piece) in self.0.iter().enumerate() {
            let with = |piece: Piece| {
                let mut pieces = self.0.clone();
                pieces[at] = piece;
                Text(pieces)
            };
            match piece {
                Piece::Plain(_) => {}
                Piece::Part(part) => found.extend(part.smaller().into_iter().map(|part| with(Piece::Part(part)))),
                Piece::Many(separator, parts) => {
                    for index in 0..parts.len() {
                        let mut fewer = parts.clone();
                        fewer.remove(index);
                        found.push(with(Piece::Many(separator, fewer)));
                    }
                    for (index, part) in parts.iter().enumerate() {
                        for smaller in part.smaller() {
                            let mut parts = parts.clone();
                            parts[index] = smaller;
                            found.push(with(Piece::Many(separator, parts)));
                        }
                    }
                }
            }
        }
        let size = self.written().len();
        found.retain(|text| text.written().len() < size);
        found.sort_by_key(|text| text.written().len());
        found.dedup();
        found
    }
}
