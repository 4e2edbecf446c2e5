//! Stories: configurations, faults, commands and exactly what they print, one file each.
//!
//! A story is a text of these lines:
//!
//! | Line | What it does |
//! |---|---|
//! | `-- main.tf --` | the lines up to the next one that begins with `--`, `$` or `!` are that file from now on |
//! | `$ sliceform plan` | runs the command in-process, in the story's directory |
//! | `! fail create mock_object.a` | something happens in the world, see `Stage::act` |
//! | `\| …` | what the command before it printed, both streams in their order, and its exit code if it is not 0 |
//! | anything else | is for the reader |
//!
//! [`replay`] runs a story and gives its text as it would be now. Nothing depends on the clock or on chance.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{Cursor, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use engine_cli::{Environment, Exit, Out, Shared, run};
use engine_model::{
    host::{FixedHost, Host},
    name::NodeName,
};
use providers_api::{ErrorKind, Provider};
use tokio_util::sync::CancellationToken;

use crate::{
    crashing::{CrashingProvider, Cut, Side},
    mock::{
        call::Verb,
        fault::How,
        provider::Mock,
        world::{Node, World},
    },
};

/// Runs a story and gives its text as it would be now.
///
/// # Panics
/// A line that nobody understands, or a directory that cannot be written.
pub async fn replay(story: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let mut stage = Stage::new(directory.path());
    let mut text = String::new();
    let mut lines = story.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('|') {
            continue;
        }
        text.push_str(line);
        text.push('\n');
        let output = if let Some(name) = file_name(line) {
            let mut content = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with(['$', '!']) && file_name(line).is_none()) {
                content.push_str(line);
                content.push('\n');
            }
            text.push_str(&content);
            stage.write(name, &content);
            continue;
        } else if let Some(command) = line.strip_prefix("$ sliceform") {
            stage.command(&words(command)).await
        } else if let Some(act) = line.strip_prefix("! ") {
            stage.act(&words(act))
        } else {
            continue;
        };
        for line in output.lines() {
            text.push_str(format!("| {line}").trim_end());
            text.push('\n');
        }
    }
    text
}

fn file_name(line: &str) -> Option<&str> {
    line.strip_prefix("-- ")?.strip_suffix(" --")
}

/// Words between spaces; single quotes hold spaces.
fn words(text: &str) -> Vec<String> {
    let parts = text.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// Where a story plays.
struct Stage<'a> {
    directory: &'a Path,
    world: World,
    host: Arc<dyn Host>,
    variables: BTreeMap<String, String>,
    /// What is typed at the next command.
    input: Option<String>,
    /// What the next command reads where nobody types.
    pipe: Option<String>,
    interrupt: CancellationToken,
    /// Where the next command is cut off.
    cut: Option<Cut>,
    /// What no command shows that was not asked for it.
    secrets: Vec<String>,
}

/// What a command has printed so far.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> Stage<'a> {
    fn new(directory: &'a Path) -> Self {
        Self {
            directory,
            world: World::default(),
            host: Arc::new(FixedHost::new(1_700_000_000)),
            variables: BTreeMap::new(),
            input: None,
            pipe: None,
            interrupt: CancellationToken::new(),
            cut: None,
            secrets: Vec::new(),
        }
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.directory.join(name);
        let parent = path.parent().expect("a file is in a directory");
        std::fs::create_dir_all(parent).expect("a directory that can be made");
        std::fs::write(path, content).expect("a file that can be written");
    }

    async fn command(&mut self, words: &[String]) -> String {
        let printed = Printed::default();
        let cut = self.cut.take().unwrap_or_else(Cut::never);
        let inner: Arc<dyn Provider> = Arc::new(Mock::new(&self.world));
        let mock: Arc<dyn Provider> = Arc::new(CrashingProvider { inner, cut: cut.clone() });
        let input = self.input.take();
        let env = Environment {
            variables: self.variables.clone(),
            directory: self.directory.to_owned(),
            interactive: input.is_some(),
            input: Box::new(Cursor::new(input.or(self.pipe.take()).unwrap_or_default().into_bytes())),
            editor: None,
            who: "ops@host".to_owned(),
            interrupt: std::mem::take(&mut self.interrupt),
            providers: vec![mock],
        };
        let out = Out { stdout: Shared::new(printed.clone()), stderr: Shared::new(printed.clone()), terminal: false };
        let args = std::iter::once("sliceform".to_owned()).chain(words.iter().cloned()).map(OsString::from);
        let exit = cut.run(run(args, env, self.host.clone(), out)).await;
        let printed = printed.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut text = String::from_utf8_lossy(&printed).replace(&*self.directory.to_string_lossy(), "DIR");
        if !words.iter().any(|word| word == "-raw") {
            let shown: Vec<&String> = self.secrets.iter().filter(|secret| text.contains(*secret)).collect();
            assert!(shown.is_empty(), "sliceform {} shows {shown:?}:\n{text}", words.join(" "));
        }
        if !text.ends_with('\n') && !text.is_empty() {
            text.push('\n');
        }
        match exit {
            Some(Exit::Success) => {}
            Some(exit) => text.push_str(&format!("[exit {}]\n", exit.code())),
            None => text.push_str("[killed]\n"),
        }
        text
    }

    /// Something happens in the world, or to the run:
    ///
    /// - `node n1 n2`: these nodes are there;
    /// - `value KEY VALUE`: what `mock_value` reads;
    /// - `fail VERB ABOUT [half]`: the next such call fails, or is done by half; `heal`: nothing fails any more;
    /// - `ill NODE WHY`: a gate finds this; `drift ID ARGUMENT VALUE`: somebody changes an object; `gone ID`: it is gone;
    /// - `interrupt VERB ABOUT`: the first interrupt comes with that call of the next command;
    /// - `kill N`: the next command ends with its call number N of the mock provider, as if killed: nobody is told;
    /// - `type TEXT`: somebody is there, and types this at the next command; `env NAME VALUE`: an environment variable;
    /// - `pipe TEXT`: the next command reads this from a pipe, `\n` is a line end;
    /// - `secret TEXT`: from now on no command prints this, but for `output -raw`;
    /// - `remove FILE`: a file of the directory is gone; `files`: prints those that there are; `cat FILE`: prints one;
    /// - `writes`: prints every call since the last time that changed something in the world.
    fn act(&mut self, words: &[String]) -> String {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["node", ref names @ ..] => self.world.edit(|contents| {
                contents.nodes.extend(names.iter().map(|name| (NodeName::from(*name), Node::default())));
            }),
            ["value", key, value] => {
                self.world.edit(|contents| drop(contents.values.insert(key.to_owned(), value.to_owned())));
            }
            ["fail", verb, about] => self.world.fail(self::verb(verb), about, How::Refused(ErrorKind::Permanent), 1),
            ["fail", verb, about, "half"] => self.world.fail(self::verb(verb), about, How::Half, 1),
            ["heal"] => self.world.heal(),
            ["ill", node, why] => self.world.edit(|contents| {
                let node = contents.nodes.get_mut(&NodeName::from(node)).expect("a node that is there");
                node.ill = Some(why.to_owned());
            }),
            ["drift", id, argument, value] => self.world.drift(id, argument, value),
            ["gone", id] => self.world.edit(|contents| drop(contents.objects.remove(id))),
            ["interrupt", verb, about] => {
                let interrupt = self.interrupt.clone();
                self.world.when(self::verb(verb), about, move |_| interrupt.cancel());
            }
            ["kill", call] => self.cut = Some(Cut::at(call.parse().expect("a number"), Side::After)),
            ["type", text] => self.input = Some(format!("{text}\n")),
            ["pipe", text] => {
                // `\\` is one backslash.
                let parts = text.split("\\\\").map(|part| part.replace("\\n", "\n"));
                self.pipe = Some(parts.collect::<Vec<_>>().join("\\"));
            }
            ["env", name, value] => drop(self.variables.insert(name.to_owned(), value.to_owned())),
            ["secret", text] => self.secrets.push(text.to_owned()),
            ["remove", file] => std::fs::remove_file(self.directory.join(file)).expect("a file that is there"),
            ["files"] => return self.files(),
            ["cat", file] => {
                let text = std::fs::read_to_string(self.directory.join(file)).expect("a file that is there");
                return text.replace(&*self.directory.to_string_lossy(), "DIR");
            }
            ["writes"] => {
                return self.world.take_writes().iter().map(|write| format!("{write}\n")).collect();
            }
            _ => unreachable!("no story has such a line: ! {}", words.join(" ")),
        }
        String::new()
    }

    fn files(&self) -> String {
        let entries = std::fs::read_dir(self.directory).expect("a directory that can be read");
        let names = entries.map(|entry| entry.expect("an entry that can be read").file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names.iter().map(|name| format!("{name}\n")).collect()
    }
}

fn verb(text: &str) -> Verb {
    match text {
        "identity" => Verb::Identity,
        "read" => Verb::Read,
        "plan" => Verb::Plan,
        "operations" => Verb::Operations,
        "create" => Verb::Create,
        "update" => Verb::Update,
        "delete" => Verb::Delete,
        "data" => Verb::Data,
        "hold" => Verb::Hold,
        "operate" => Verb::Operate,
        "release" => Verb::Release,
        "gate" => Verb::Gate,
        _ => unreachable!("no story has such a call: {text}"),
    }
}
