//! Tokens: what the lexer cuts a source into. Every byte belongs to exactly one token, so that the tokens of a file,
//! one after the other, are the file.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// The byte order mark at the start of a file.
    ByteOrderMark,
    /// Spaces and tabs.
    Whitespace,
    /// `# …`, `// …` without the line end, or `/* … */`.
    Comment,
    /// `\n` or `\r\n`, outside of templates.
    Newline,
    /// `/* …` that does not end.
    BrokenComment,
    /// A name.
    Ident,
    /// A number literal.
    Number,
    /// `"` that begins a string.
    QuoteOpen,
    /// `"` that ends a string.
    QuoteClose,
    /// Between the quotes, up to an interpolation, directive or the end; escapes are not decoded.
    QuotedText,
    /// No bytes: the line ended, and a string that began on it did not. All brackets, strings and interpolations that
    /// are open end here, out to the nearest heredoc.
    BrokenQuote,
    /// `<<MARKER` or `<<-MARKER` with its line end.
    HeredocOpen,
    /// The line of the marker, without its line end.
    HeredocClose,
    /// Text of a heredoc or bare template; at most one line, with its end.
    TemplateText,
    /// `${` or `${~`
    InterpolationOpen,
    /// `%{` or `%{~`
    DirectiveOpen,
    /// `}` or `~}` that ends an interpolation or directive.
    TemplateClose,
    /// `{`
    BraceOpen,
    /// `}`
    BraceClose,
    /// `[`
    BracketOpen,
    /// `]`
    BracketClose,
    /// `(`
    ParenOpen,
    /// `)`
    ParenClose,
    /// `=`
    Assign,
    /// `=>`
    Arrow,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `!`
    Not,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `::`
    DoubleColon,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `...`
    Ellipsis,
    /// One character that the language does not use.
    Invalid,
    /// No bytes: the end of the file.
    End,
}

/// One token. It ends where the next one starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte.
    pub start: u32,
}

impl TokenKind {
    /// Does it only separate or explain?
    pub fn is_trivia(self) -> bool {
        matches!(self, Self::ByteOrderMark | Self::Whitespace | Self::Comment)
    }
}
