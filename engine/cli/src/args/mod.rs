//! The command line: Terraform's spelling, one dash before long options (two work too).

mod dashes;
mod extra;
mod variables;

use std::{collections::BTreeMap, ffi::OsString, time::Duration};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use variables::VariableSource;

/// Plan and apply for GPU clusters.
#[derive(Clone, Debug, Parser)]
#[command(name = "sliceform", bin_name = "sliceform", disable_version_flag = true, max_term_width = 100)]
pub(crate) struct CommandLine {
    /// Go to that directory first.
    #[arg(long, global = true, value_name = "DIR")]
    pub chdir: Option<String>,
    /// Write no colour.
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Use the embedded cluster in .sliceform/sandbox/, optionally with a fleet of your own.
    #[arg(long, global = true, value_name = "FLEET", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub sandbox: Option<String>,
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Prepare the working directory: install the modules that the configuration calls.
    Init(InitArgs),
    /// Bring configuration files into the canonical layout.
    Fmt(FmtArgs),
    /// Install the modules that the configuration calls, and nothing else.
    Get(GetArgs),
    /// Check the configuration without asking anybody.
    Validate(ValidateArgs),
    /// Evaluate expressions, with the state and the variables at hand.
    Console(ConsoleArgs),
    /// List the modules that the configuration calls.
    Modules(ModulesArgs),
    /// List the providers, or their schemas.
    Providers(ProvidersArgs),
    /// Tell what the language has.
    #[command(subcommand)]
    Metadata(MetadataCommand),
    /// Show what apply would change, and why.
    Plan(PlanArgs),
    /// Carry out a plan: a saved one, or one that is made and shown now.
    Apply(ApplyArgs),
    /// Destroy everything that the state knows.
    Destroy(DestroyArgs),
    /// Take an object that exists into the state.
    Import(ImportArgs),
    /// Show the state, or a saved plan.
    Show(ShowArgs),
    /// Show the outputs of the root module.
    Output(OutputArgs),
    /// Look into the state.
    #[command(subcommand)]
    State(StateCommand),
    /// Show the version.
    Version(VersionArgs),
    /// Drive the embedded cluster.
    #[command(subcommand)]
    Sandbox(SandboxCommand),
}

/// Options of everything that locks the state.
#[derive(Clone, Debug, Args)]
pub(crate) struct LockArgs {
    /// Lock the state.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub lock: bool,
    /// Wait so long for the lock: 10s, 5m.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration)]
    pub lock_timeout: Duration,
}

/// Options of everything that plans.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanningArgs {
    #[command(flatten)]
    pub variables: VariableArgs,
    #[command(flatten)]
    pub lock: LockArgs,
    /// Plan only this resource and what it needs.
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    /// Replace this resource although nothing asks for it.
    #[arg(long, value_name = "ADDRESS")]
    pub replace: Vec<String>,
    /// Only bring the state up to what is there.
    #[arg(long)]
    pub refresh_only: bool,
    /// Read what is there before planning.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub refresh: bool,
    /// So many calls for resources at a time.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub parallelism: u16,
    /// Write warnings in short, where there are no errors.
    #[arg(long)]
    pub compact_warnings: bool,
}

/// Values of variables.
#[derive(Clone, Debug, Args)]
pub(crate) struct VariableArgs {
    /// Give a variable a value.
    #[arg(long, value_name = "NAME=VALUE")]
    var: Vec<String>,
    /// Give variables the values in that file.
    #[arg(long, value_name = "FILE")]
    var_file: Vec<String>,
    /// Ask for what is missing. Sliceform never asks for variables: a missing one is an error either way.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub input: bool,
    /// Both of the above in the order of the command line, the last one wins.
    #[arg(skip)]
    pub given: Vec<VariableSource>,
}

/// Options of `init`.
#[derive(Clone, Debug, Args)]
pub(crate) struct InitArgs {
    /// Fetch modules anew, in the newest versions that are allowed.
    #[arg(long)]
    pub upgrade: bool,
    /// Install modules.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub get: bool,
    /// Accepted for scripts; there is nothing to ask.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub input: bool,
}

/// Options of `fmt`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FmtArgs {
    /// Name the files whose layout changes. Never done for standard input.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub list: bool,
    /// Write the files. Never done for standard input, nor with -check.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub write: bool,
    /// Show what changes.
    #[arg(long)]
    pub diff: bool,
    /// Change nothing; exit with 3 where something would change.
    #[arg(long)]
    pub check: bool,
    /// Directories with everything below them.
    #[arg(long)]
    pub recursive: bool,
    /// Files and directories, or - for standard input. None: the working directory.
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
}

/// Options of `get`.
#[derive(Clone, Debug, Args)]
pub(crate) struct GetArgs {
    /// Fetch modules anew, in the newest versions that are allowed.
    #[arg(long)]
    pub update: bool,
}

/// Options of `validate`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
    /// Write warnings in short, where there are no errors.
    #[arg(long)]
    pub compact_warnings: bool,
    /// Check resources of other providers too, by the schemas in that file: what `terraform providers schema -json` writes.
    #[arg(long, value_name = "FILE")]
    pub schemas: Vec<String>,
}

/// Options of `console`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConsoleArgs {
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Make a plan first, and look at what would be then.
    #[arg(long)]
    pub plan: bool,
}

/// Options of `modules`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModulesArgs {
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

/// Options of `providers`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProvidersArgs {
    #[command(subcommand)]
    pub command: Option<ProvidersCommand>,
}

/// What else `providers` tells.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ProvidersCommand {
    /// Everything that the providers have schemas for.
    Schema {
        /// Write JSON. There is no other form.
        #[arg(long)]
        json: bool,
    },
}

/// What the language has.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum MetadataCommand {
    /// The signatures of all functions.
    Functions {
        /// Write JSON. There is no other form.
        #[arg(long)]
        json: bool,
    },
}

/// Options of `plan`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Plan to destroy everything.
    #[arg(long)]
    pub destroy: bool,
    /// Keep the plan in that file, for apply.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Exit with 2 where there is something to change.
    #[arg(long)]
    pub detailed_exitcode: bool,
}

/// Options of `apply`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Plan to destroy everything.
    #[arg(long)]
    pub destroy: bool,
    /// Do not ask for approval.
    #[arg(long)]
    pub auto_approve: bool,
    /// The plan to carry out.
    #[arg(value_name = "PLANFILE")]
    pub plan: Option<String>,
}

/// Options of `destroy`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DestroyArgs {
    #[command(flatten)]
    pub planning: PlanningArgs,
    /// Do not ask for approval.
    #[arg(long)]
    pub auto_approve: bool,
}

/// Options of `import`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub variables: VariableArgs,
    #[command(flatten)]
    pub lock: LockArgs,
    /// So many calls for resources at a time.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub parallelism: u16,
    /// Write the resource's block to that file, which must not exist yet.
    #[arg(long, value_name = "FILE")]
    pub generate_config_out: Option<String>,
    /// The address that it gets: kubernetes_manifest.web.
    #[arg(value_name = "ADDR")]
    pub address: String,
    /// What names it where it exists: apiVersion=apps/v1,kind=Deployment,namespace=team-a,name=web.
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    pub id: String,
}

/// Options of `show`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShowArgs {
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
    /// Write sensitive values too.
    #[arg(long)]
    pub show_sensitive: bool,
    /// A saved plan; without one the state is shown.
    #[arg(value_name = "PLANFILE")]
    pub plan: Option<String>,
}

/// Options of `output`.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
    /// Write only the text of one output.
    #[arg(long, conflicts_with = "json", requires = "name")]
    pub raw: bool,
    /// Only this one.
    pub name: Option<String>,
}

/// Looking into the state.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// List the resources in the state.
    List {
        /// Only these, and everything in these modules.
        #[arg(value_name = "ADDRESS")]
        addresses: Vec<String>,
    },
    /// Show one resource in the state.
    Show {
        /// Which.
        #[arg(value_name = "ADDRESS")]
        address: String,
    },
}

/// Options of `version`.
#[derive(Clone, Debug, Args)]
pub(crate) struct VersionArgs {
    /// Write JSON.
    #[arg(long)]
    pub json: bool,
}

/// Driving the embedded cluster.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Serve it until interrupted, for kubectl and other commands.
    Serve {
        /// Write the kubeconfig there.
        #[arg(long, value_name = "FILE")]
        kubeconfig: Option<String>,
    },
    /// Throw it away with its state, and begin anew at the next command.
    Reset,
    /// Create pods from a file of manifests.
    Run {
        /// A file of Pod manifests in YAML or JSON.
        #[arg(value_name = "FILE", required = true)]
        files: Vec<String>,
    },
    /// Run a command on a node: nvidia-smi.
    Exec {
        /// Which node.
        node: String,
        /// The command with its arguments, behind --.
        #[arg(last = true, required = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

/// Reads the command line.
///
/// # Errors
/// What clap says: help was asked for, or what is wrong.
pub(crate) fn parse(
    args: impl IntoIterator<Item = OsString>,
    variables: &BTreeMap<String, String>,
) -> Result<CommandLine, clap::Error> {
    let command = command();
    let args = extra::with_environment(args.into_iter().collect(), &command, variables)?;
    let mut args: Vec<OsString> = dashes::doubled(args).collect();
    if args.get(1).is_some_and(|first| first == "--version" || first == "-v") {
        args[1] = "version".into();
    }
    let matches = command.try_get_matches_from(args)?;
    let mut line = CommandLine::from_arg_matches(&matches)?;
    if let (Some(arguments), Some((_, matches))) = (line.command.variables_mut(), matches.subcommand()) {
        arguments.given = variables::in_order(matches)?;
        arguments.input &= !variables.get("TF_INPUT").is_some_and(|value| value == "0" || value == "false");
    }
    Ok(line)
}

/// What can be typed.
pub(crate) fn command() -> clap::Command {
    as_terraform(CommandLine::command())
}

/// What Terraform's flags do and clap's do not of themselves: a switch takes `=false`, and of an option that is given twice
/// the last one counts.
fn as_terraform(command: clap::Command) -> clap::Command {
    let switch = |arg: clap::Arg| match arg.get_action() {
        clap::ArgAction::SetTrue => arg
            .action(clap::ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .value_name("BOOL")
            .default_value("false")
            .default_missing_value("true")
            .hide_default_value(true)
            .hide_possible_values(true)
            .value_parser(clap::value_parser!(bool)),
        _ => arg,
    };
    command.args_override_self(true).mut_args(switch).mut_subcommands(as_terraform)
}

impl Command {
    fn variables_mut(&mut self) -> Option<&mut VariableArgs> {
        match self {
            Self::Console(args) => Some(&mut args.planning.variables),
            Self::Plan(args) => Some(&mut args.planning.variables),
            Self::Apply(args) => Some(&mut args.planning.variables),
            Self::Destroy(args) => Some(&mut args.planning.variables),
            Self::Import(args) => Some(&mut args.variables),
            _ => None,
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    engine_model::duration::parse(text).ok_or_else(|| format!("{text:?} is no duration; write 10s, 5m or 1h30m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> CommandLine {
        parse(std::iter::once("sliceform").chain(text.split(' ')).map(OsString::from), &BTreeMap::new()).unwrap()
    }

    #[test]
    fn switches_take_values_and_the_last_one_counts() {
        let json = |text: &str| match line(text).command {
            Command::Validate(args) => args.json,
            _ => panic!("{text}"),
        };
        for (text, expected) in [
            ("validate", false),
            ("validate -json", true),
            ("validate -json=true", true),
            ("validate -json=false", false),
            ("validate -json -json=false", false),
            ("validate -no-color=true -json=false -json", true),
        ] {
            assert_eq!(json(text), expected, "{text}");
        }
        let Command::Plan(plan) = line("plan -out=a -out b -refresh=false -refresh").command else { panic!() };
        assert_eq!(plan.out.as_deref(), Some("b"));
        assert!(plan.planning.refresh);
    }

    #[test]
    fn arguments_of_the_environment_stand_behind_the_command() {
        let variables = |all: &[(&str, &str)]| all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let parsed = |text: &str, all: &[(&str, &str)]| {
            parse(std::iter::once("sliceform").chain(text.split(' ')).map(OsString::from), &variables(all)).unwrap()
        };
        // As observed with Terraform 1.11.4: the variable of one command comes first, so that the other one wins.
        let all = [("TF_CLI_ARGS", "-out=every"), ("TF_CLI_ARGS_plan", "-out=one -var 'x=a b'")];
        let Command::Plan(plan) = parsed("-chdir=d plan -var x=2", &all).command else { panic!() };
        assert_eq!(plan.out.as_deref(), Some("every"));
        let values = ["a b", "2"].map(|value| VariableSource::Value("x".to_owned(), value.to_owned()));
        assert_eq!(plan.planning.variables.given, values);
        let line = parsed("state list", &[("TF_CLI_ARGS_state_list", "mock.a"), ("TF_CLI_ARGS_plan", "-out=p")]);
        let Command::State(StateCommand::List { addresses }) = line.command else { panic!() };
        assert_eq!(addresses, ["mock.a"]);
        let Command::Plan(plan) = parsed("plan", &[("TF_INPUT", "0")]).command else { panic!() };
        assert!(!plan.planning.variables.input);
    }

    #[test]
    fn terraforms_spelling_works() {
        let line =
            line("-chdir=a plan -out=p -detailed-exitcode -refresh=false -var a=1 -var-file=f -var b=-2 -sandbox");
        assert_eq!(line.chdir.as_deref(), Some("a"));
        assert_eq!(line.sandbox.as_deref(), Some(""));
        let Command::Plan(plan) = line.command else { panic!("{line:?}") };
        assert_eq!(plan.out.as_deref(), Some("p"));
        assert!(plan.detailed_exitcode && !plan.planning.refresh && plan.planning.lock.lock);
        assert_eq!(
            plan.planning.variables.given,
            [
                VariableSource::Value("a".to_owned(), "1".to_owned()),
                VariableSource::File("f".to_owned()),
                VariableSource::Value("b".to_owned(), "-2".to_owned()),
            ]
        );
    }

    #[test]
    fn what_stands_behind_two_dashes_is_left_alone() {
        let line = line("sandbox exec gpu-01 -sandbox=fleet.hcl -- nvidia-smi mig -dgi -i 0");
        assert_eq!(line.sandbox.as_deref(), Some("fleet.hcl"));
        let Command::Sandbox(SandboxCommand::Exec { node, command }) = line.command else { panic!("{line:?}") };
        assert_eq!(node, "gpu-01");
        assert_eq!(command, ["nvidia-smi", "mig", "-dgi", "-i", "0"]);
    }

    #[test]
    fn durations_are_gos() {
        for (text, expected) in
            [("0s", Ok(0)), ("0", Ok(0)), ("10s", Ok(10)), ("1h2m3s", Ok(3723)), ("x", Err(())), ("5", Err(()))]
        {
            assert_eq!(duration(text).map(|d| d.as_secs()).map_err(drop), expected, "{text}");
        }
    }

    #[test]
    fn a_wrong_variable_is_an_error() {
        let args = ["sliceform", "plan", "-var", "a"].map(OsString::from);
        assert!(parse(args, &BTreeMap::new()).unwrap_err().to_string().contains("NAME=VALUE"));
    }
}
