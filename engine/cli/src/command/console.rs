//! `console`: evaluates expressions in the root module, beside the objects of the state or of a plan. Changes nothing.

use std::{io::BufRead, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics};
use engine_lang::syntax::{Expr, Node, TokenKind, parse_expression, tokens};
use engine_model::{address::ResourceAddr, plan::PlanMode};
use engine_plan::{Evaluation, Given, Program, objects};
use engine_value::Value;

use crate::{
    args::ConsoleArgs,
    compiled, configuration,
    planning::{self, Made},
    sandbox::World,
    session::{Exit, Session},
    storage::Storage,
    view::expression::{expression, type_of},
};

const HELP: &str =
    "Type an expression, and its value is shown: var.name, length(local.names), kubernetes_namespace.a.id.
An expression goes on in the next line as long as a bracket, a string's ${ or a heredoc is open.
type(x) shows the type of x. exit, Ctrl-C or Ctrl-D end.
";

pub(crate) async fn run(session: &mut Session, world: Option<&World>, args: &ConsoleArgs) -> Exit {
    let looked = if args.plan { planned(session, world, args).await } else { stored(session, world, args).await };
    let (program, objects) = match looked {
        Ok(looked) => looked,
        Err(diagnostics) => return session.fail(diagnostics),
    };
    Console { program, objects, failed: false }.run(session)
}

type Looked = (Arc<Program>, Vec<(ResourceAddr, Value)>);

/// What the state has.
async fn stored(session: &mut Session, world: Option<&World>, args: &ConsoleArgs) -> Result<Looked, Diagnostics> {
    let (configuration, warnings) = configuration::load(session, &args.planning.variables.given)?;
    session.report(&warnings);
    let storage = Storage::new(session, world.map(World::directory), configuration.config.state_path());
    let snapshot = super::folded(&storage.load(session).await?)?;
    let providers = compiled::providers(session, world.map(World::connection));
    let mut program = planning::program(session, &configuration, &providers);
    // Nothing is planned, so what the clock and chance say now is what they say.
    program.surroundings.host = Some(session.host.clone());
    // A variable that nobody gave a value may have any.
    for (name, variable) in program.config.root.variables.iter().filter(|(_, variable)| variable.default.is_none()) {
        let unknown = Value::unknown(variable.constraint.ty.without_optional());
        program.variables.entry(name.clone()).or_insert(Given::Value(unknown));
    }
    let program = Arc::new(program);
    let (objects, wrong) = snapshot.map(|snapshot| objects(&program, &snapshot)).unwrap_or_default();
    session.report(&wrong);
    Ok((program, objects))
}

/// What would be after a plan.
async fn planned(session: &mut Session, world: Option<&World>, args: &ConsoleArgs) -> Result<Looked, Diagnostics> {
    let made = planning::make(session, world, &args.planning, PlanMode::Normal, "console").await?;
    let Made { plan, program, mut storage, .. } = made;
    storage.unlock(session).await;
    let there = plan.changes.iter().filter(|change| change.deposed.is_none() && !change.after.is_null());
    let objects = there.map(|change| (change.addr.clone(), change.after.clone())).collect();
    Ok((program, objects))
}

struct Console {
    program: Arc<Program>,
    objects: Vec<(ResourceAddr, Value)>,
    failed: bool,
}

impl Console {
    /// Lines until they end. Where nobody types, a wrong one does not hide those after it, but the exit code tells.
    fn run(mut self, session: &mut Session) -> Exit {
        let mut editor = session.env.editor.take();
        let mut input = std::mem::replace(&mut session.env.input, Box::new(std::io::empty()));
        let mut text = String::new();
        loop {
            let line = match &mut editor {
                Some(editor) => editor.line(if text.is_empty() { "> " } else { ": " }),
                None => piped(&mut *input),
            };
            let ended = line.is_none();
            text.push_str(&line.unwrap_or_default());
            if !ended && is_open(&text) {
                text.push('\n');
                continue;
            }
            match text.trim() {
                "" => {}
                "exit" => break,
                "help" => session.print(HELP),
                _ => self.told(session, &text),
            }
            text.clear();
            if ended {
                break;
            }
        }
        if self.failed && editor.is_none() { Exit::Failure } else { Exit::Success }
    }

    fn told(&mut self, session: &mut Session, text: &str) {
        match self.evaluated(session, text) {
            Ok(told) if told.is_empty() => {}
            Ok(told) => session.print(&format!("{told}\n")),
            Err(diagnostics) => {
                self.failed = true;
                session.report(&diagnostics);
            }
        }
    }

    fn evaluated(&self, session: &mut Session, text: &str) -> Result<String, Diagnostics> {
        if tokens(text)
            .iter()
            .all(|token| token.kind.is_trivia() || matches!(token.kind, TokenKind::Newline | TokenKind::End))
        {
            return Ok(String::new());
        }
        let file = session.sources.add("<console-input>", text);
        let (expr, diagnostics) = parse_expression(file, text);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        if let Some(argument) = asked_type(&expr)? {
            let value = self.value(&argument)?;
            return Ok(type_of(&value.type_of(), 0));
        }
        Ok(expression(&self.value(&expr)?, 0))
    }

    fn value(&self, expr: &Expr) -> Result<Value, Diagnostics> {
        Evaluation::looking(self.program.clone(), &self.objects).expression(expr)
    }
}

/// The argument of `type(…)`, where the expression is that.
fn asked_type(expr: &Expr) -> Result<Option<Expr>, Diagnostics> {
    let is_type = |call: &Expr| matches!(call.node(), Node::Call { name, .. } if &**call.tree().str(name) == "type");
    let Some(call) = expr.find(|node| matches!(node, Node::Call { .. })).into_iter().find(is_type) else {
        return Ok(None);
    };
    match call.node() {
        Node::Call { args, expand: false, .. } if call == expr.unparenthesized() => {
            let args = call.tree().exprs(args);
            let [argument] = args else {
                let detail = format!("type takes one argument; found {}.", args.len());
                return Err(Diagnostic::error("Wrong number of arguments", detail).at(call.span()).into());
            };
            Ok(Some(call.with(*argument)))
        }
        _ => {
            let detail =
                "\"type\" shows a type to people. It has no value, so that it cannot be a part of an expression.";
            Err(Diagnostic::error("Invalid use of type function", detail).at(call.span()).into())
        }
    }
}

/// Does the expression go on in the next line?
fn is_open(text: &str) -> bool {
    use TokenKind as K;
    let (mut brackets, mut heredocs) = (0i64, 0i64);
    for token in tokens(text) {
        match token.kind {
            K::BraceOpen | K::BracketOpen | K::ParenOpen | K::InterpolationOpen | K::DirectiveOpen => brackets += 1,
            K::BraceClose | K::BracketClose | K::ParenClose | K::TemplateClose => brackets -= 1,
            K::HeredocOpen => heredocs += 1,
            K::HeredocClose => heredocs -= 1,
            K::BrokenComment => return true,
            K::BrokenQuote => return false,
            _ => {}
        }
    }
    brackets > 0 || heredocs > 0 || opens_heredoc(text)
}

/// Does the text end with the beginning of a heredoc, whose line is not ended yet?
fn opens_heredoc(text: &str) -> bool {
    tokens(&format!("{text}\n")).iter().any(|token| token.kind == TokenKind::HeredocOpen)
        && !tokens(text).iter().any(|token| token.kind == TokenKind::HeredocOpen)
}

fn piped(input: &mut dyn BufRead) -> Option<String> {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
    }
}
