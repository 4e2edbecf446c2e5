//! What Terraform makes of cases: hundreds in one configuration, each in a file of its own, so that an error tells by its
//! place which case it is about. What fails is noted and taken out, until the rest can be planned.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::Path,
    process::{Command, Output},
};

use engine_value::{
    Type,
    json::{self, Json},
};

use crate::{
    answer::{Answer, content},
    world,
};

/// A case in words: the constraint, the expression.
pub type Asked = (Option<String>, String);

/// Is the binary there?
pub fn version() -> Option<String> {
    let output = Command::new("terraform").arg("version").env("CHECKPOINT_DISABLE", "1").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(str::to_owned)
}

/// The answers to all cases, in their order.
///
/// # Panics
/// If the binary cannot be run, or says what nobody understands.
pub fn answers(cases: &[Asked]) -> Vec<Answer> {
    const MOST: usize = 250;
    cases.chunks(MOST).flat_map(batch).collect()
}

fn batch(cases: &[Asked]) -> Vec<Answer> {
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let directory = directory.path();
    write_world(directory);
    let mut open: BTreeMap<usize, &Asked> = cases.iter().enumerate().collect();
    for (at, (constraint, expression)) in &open {
        write_case(directory, *at, constraint.as_deref(), expression);
    }
    let mut answers: BTreeMap<usize, Answer> = BTreeMap::new();
    for phase in [Phase::Init, Phase::Validate, Phase::Plan] {
        loop {
            let output = terraform(directory, phase.arguments());
            if output.status.success() {
                break;
            }
            let mut progress = false;
            for (at, answer) in phase.errors(&output) {
                if open.remove(&at).is_some() {
                    progress = true;
                    remove_case(directory, at);
                    answers.insert(at, answer);
                }
            }
            if !progress {
                // Nobody can tell which case it was: an error without a place, or Terraform itself failed.
                return halves(cases);
            }
        }
    }
    if !open.is_empty() {
        read_plan(directory, &open, &mut answers);
    }
    cases.iter().enumerate().map(|(at, _)| answers.remove(&at).unwrap_or_else(Answer::none)).collect()
}

fn halves(cases: &[Asked]) -> Vec<Answer> {
    if let [_] = cases {
        return vec![Answer::none()];
    }
    let (left, right) = cases.split_at(cases.len() / 2);
    [batch(left), batch(right)].concat()
}

fn terraform(directory: &Path, arguments: &[&str]) -> Output {
    Command::new("terraform")
        .args(arguments)
        .current_dir(directory)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .output()
        .expect("terraform can be run")
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("a file that can be written");
}

fn write_world(directory: &Path) {
    let mut main = "resource \"terraform_data\" \"u\" {}\n\
                    module \"u\" {\n  source = \"./u\"\n  any    = jsondecode(terraform_data.u.id)\n}\n\
                    locals {\n  id = terraform_data.u.id\n  any = jsondecode(terraform_data.u.id)\n  \
                    su = sensitive(terraform_data.u.id)\n"
        .to_owned();
    let mut module = "variable \"any\" {}\n".to_owned();
    for (name, text) in world::KNOWN {
        let _ = writeln!(main, "  {name} = {text}");
    }
    for (name, ty) in world::UNKNOWN {
        let _ = writeln!(main, "  {name} = module.u.{name}");
        let _ = writeln!(
            module,
            "module \"{name}\" {{\n  source = \"./{name}\"\n  v = var.any\n}}\noutput \"{name}\" {{\n  value = module.{name}.v\n}}"
        );
        let inner = directory.join("u").join(name);
        fs::create_dir_all(&inner).expect("a directory that can be made");
        write(
            &inner.join("main.tf"),
            &format!("variable \"v\" {{\n  type = {ty}\n}}\noutput \"v\" {{\n  value = var.v\n}}\n"),
        );
    }
    main.push_str("}\n");
    write(&directory.join("main.tf"), &main);
    write(&directory.join("u/main.tf"), &module);
}

fn write_case(directory: &Path, at: usize, constraint: Option<&str>, expression: &str) {
    // A marker of a heredoc must stand alone.
    let value = match constraint {
        None => format!("locals {{\n  c{at} = {expression}\n}}\n"),
        Some(constraint) => {
            let inner = directory.join(format!("t{at}"));
            fs::create_dir_all(&inner).expect("a directory that can be made");
            write(
                &inner.join("main.tf"),
                &format!("variable \"v\" {{\n  type = {constraint}\n}}\noutput \"v\" {{\n  value = var.v\n}}\n"),
            );
            format!(
                "module \"c{at}\" {{\n  source = \"./t{at}\"\n  v = {expression}\n}}\nlocals {{\n  c{at} = module.c{at}.v\n}}\n"
            )
        }
    };
    let resource = format!("resource \"terraform_data\" \"c{at}\" {{\n  input = local.c{at}\n}}\n");
    write(&directory.join(format!("c{at}.tf")), &(value + &resource));
}

fn remove_case(directory: &Path, at: usize) {
    let _ = fs::remove_file(directory.join(format!("c{at}.tf")));
    let _ = fs::remove_dir_all(directory.join(format!("t{at}")));
}

/// What has to be gone through without an error, in this order.
#[derive(Clone, Copy)]
enum Phase {
    Init,
    Validate,
    Plan,
}

impl Phase {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Init => &["init", "-input=false", "-json"],
            Self::Validate => &["validate", "-json"],
            Self::Plan => &["plan", "-input=false", "-json", "-out=plan"],
        }
    }

    /// The errors by their cases.
    fn errors(self, output: &Output) -> Vec<(usize, Answer)> {
        match self {
            Self::Validate => {
                let text = String::from_utf8_lossy(&output.stdout);
                match json::read(&text).ok().as_ref().and_then(|json| json.get("diagnostics")) {
                    Some(Json::Array(found)) => found.iter().filter_map(diagnostic).collect(),
                    _ => Vec::new(),
                }
            }
            Self::Init | Self::Plan => diagnostics(output),
        }
    }
}

/// The errors among the lines of a command with `-json`.
fn diagnostics(output: &Output) -> Vec<(usize, Answer)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| json::read(line).ok());
    lines.filter_map(|line| line.get("diagnostic").and_then(diagnostic)).collect()
}

fn diagnostic(json: &Json) -> Option<(usize, Answer)> {
    let text = |name: &str| json.get(name).and_then(Json::as_str).unwrap_or_default();
    if text("severity") != "error" {
        return None;
    }
    // An infinite number fails without a place, when its resource is stored.
    let place = match json.get("range").and_then(|range| range.get("filename")).and_then(Json::as_str) {
        Some(file) => file.get(1..)?,
        None => text("summary").split_once("terraform_data.c")?.1,
    };
    let digits: String = place.chars().take_while(char::is_ascii_digit).collect();
    let answer = Answer::Fails {
        summary: text("summary").to_owned(),
        detail: text("detail").split_whitespace().collect::<Vec<_>>().join(" "),
    };
    Some((digits.parse().ok()?, answer))
}

fn read_plan(directory: &Path, open: &BTreeMap<usize, &Asked>, answers: &mut BTreeMap<usize, Answer>) {
    let output = terraform(directory, &["show", "-json", "plan"]);
    let plan = json::read(&String::from_utf8_lossy(&output.stdout)).expect("a plan as JSON");
    let names: Vec<usize> = open.keys().copied().collect();
    let types = types(directory, &names);
    let Some(Json::Array(changes)) = plan.get("resource_changes") else { return };
    for change in changes {
        let name = change.get("name").and_then(Json::as_str).unwrap_or_default();
        let Some(at) = name.strip_prefix('c').and_then(|digits| digits.parse::<usize>().ok()) else { continue };
        let input = |view: &str| change.get("change").and_then(|change| change.get(view)).and_then(|v| v.get("input"));
        let content = content(input("after"), input("after_unknown"), input("after_sensitive"));
        if let Some(ty) = types.get(&at) {
            answers.insert(at, Answer::Value { ty: ty.clone(), content });
        }
    }
}

/// The types of cases, which only the console tells. It does not quote the names of attributes, so that some types cannot
/// be read: those are missing.
fn types(directory: &Path, cases: &[usize]) -> BTreeMap<usize, String> {
    match (asked_types(directory, cases), cases) {
        (Some(types), _) => types,
        (None, [_] | []) => BTreeMap::new(),
        (None, _) => {
            let (left, right) = cases.split_at(cases.len() / 2);
            let mut types = self::types(directory, left);
            types.extend(self::types(directory, right));
            types
        }
    }
}

fn asked_types(directory: &Path, cases: &[usize]) -> Option<BTreeMap<usize, String>> {
    use std::process::Stdio;
    let names: Vec<String> = cases.iter().map(|at| format!("c{at} = local.c{at}")).collect();
    let question = format!("type({{{}}})\n", names.join(", "));
    let mut child = Command::new("terraform")
        .args(["console", "-plan"])
        .current_dir(directory)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("terraform can be run");
    {
        use std::io::Write as _;
        let mut stdin = child.stdin.take().expect("the input is a pipe");
        stdin.write_all(question.as_bytes()).expect("the console reads");
    }
    let output = child.wait_with_output().expect("the console ends");
    let text = String::from_utf8_lossy(&output.stdout);
    let Type::Object(attributes) = (Reader { whole: &text, text: &text }).read()? else { return None };
    let mut types = BTreeMap::new();
    for (name, attr) in attributes.iter() {
        types.insert(name.strip_prefix('c')?.parse().ok()?, json::type_to_tree(&attr.ty).to_string());
    }
    cases.iter().all(|at| types.contains_key(at)).then_some(types)
}

/// Reads a type as `type()` prints it: `list(string)`, `object({ a: string })`.
struct Reader<'a> {
    whole: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn eat(&mut self, mark: &str) -> bool {
        match self.text.trim_start().strip_prefix(mark) {
            Some(rest) => {
                self.text = rest;
                true
            }
            None => false,
        }
    }

    fn read(&mut self) -> Option<Type> {
        for (word, ty) in
            [("string", Type::String), ("number", Type::Number), ("bool", Type::Bool), ("dynamic", Type::Dynamic)]
        {
            if self.eat(word) {
                return Some(ty);
            }
        }
        for (word, make) in [("list(", Type::list as fn(Type) -> Type), ("set(", Type::set), ("map(", Type::map)] {
            if self.eat(word) {
                let element = self.read()?;
                self.eat(",");
                return self.eat(")").then(|| make(element));
            }
        }
        if self.eat("tuple([") {
            let mut elements = Vec::new();
            while !self.eat("])") {
                elements.push(self.read()?);
                self.eat(",");
            }
            return Some(Type::tuple(elements));
        }
        if self.eat("object({") {
            // Names are not quoted, so that only the indentation tells where they begin.
            let before = &self.whole[..self.whole.len() - self.text.len()];
            let line = before.rsplit('\n').next().unwrap_or_default();
            let indent = format!("\n{}    ", &line[..line.len() - line.trim_start().len()]);
            let mut attributes: Vec<(String, Type)> = Vec::new();
            while !self.eat("})") {
                let (name, rest) = self.text.strip_prefix(&indent)?.split_once(": ")?;
                self.text = rest;
                attributes.push((name.to_owned(), self.read()?));
                self.eat(",");
            }
            return Some(Type::object(attributes));
        }
        None
    }
}
