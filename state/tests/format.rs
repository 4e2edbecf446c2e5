//! The state file: what Terraform wrote is read and written byte for byte; what is no state is named and left alone.

use engine_value::Type;
use state::{Dependencies, Slot, Snapshot, Status, v4};

const TERRAFORM: &str = include_str!("golden/terraform-1.11.4.tfstate");
const OURS: &str = include_str!("golden/sliceform.tfstate");

fn read(text: &str) -> Snapshot {
    v4::read(text.as_bytes()).expect("a state file")
}

#[test]
fn files_are_written_as_they_were_read() {
    for (file, text) in [("terraform-1.11.4", TERRAFORM), ("sliceform", OURS)] {
        assert_eq!(v4::write(&read(text)), text, "{file}");
    }
}

#[test]
fn a_file_of_terraform_is_understood() {
    let snapshot = read(TERRAFORM);
    assert_eq!((snapshot.serial, &*snapshot.terraform_version), (11, "1.11.4"));
    let addrs: Vec<_> = snapshot.resources().keys().map(ToString::to_string).collect();
    let expected = [
        "data.terraform_remote_state.r",
        "terraform_data.a",
        "terraform_data.b",
        "terraform_data.cnt[0]",
        "terraform_data.cnt[1]",
        "module.many[\"x\"].terraform_data.each[\"\\\"<q>\\\"\"]",
        "module.many[\"x\"].terraform_data.each[\"a b\"]",
    ];
    assert_eq!(addrs, expected);

    let b = snapshot.resource(&"terraform_data.b".parse().unwrap()).unwrap();
    let objects: Vec<_> = b.objects().map(|(slot, object)| (slot, object.status)).collect();
    let deposed = Slot::Deposed(engine_model::address::DeposedKey("26528603".into()));
    assert_eq!(objects, [(Slot::Current, Status::Tainted), (deposed, Status::Ready)]);
    let a = "terraform_data.a".parse::<engine_model::address::ResourceAddr>().unwrap();
    let current = b.current.as_ref().unwrap();
    assert_eq!(current.dependencies, Dependencies::Configured(vec![a.config()]));
    assert!(current.create_before_destroy);

    let any = [
        ("id", Type::String),
        ("input", Type::Dynamic),
        ("output", Type::Dynamic),
        ("triggers_replace", Type::Dynamic),
    ];
    let a = snapshot.current(&a).unwrap().value(&Type::object(any)).unwrap();
    let secret = |name: &str| a.get("input").and_then(|input| input.get(name)).unwrap().contains_sensitive();
    assert_eq!([secret("p"), secret("list"), secret("m")], [true; 3]);
    assert!(!a.get("id").unwrap().contains_sensitive());

    let outputs: Vec<_> = snapshot.outputs.iter().map(|(name, output)| (&**name, output.sensitive)).collect();
    assert_eq!(outputs, [("obj", false), ("sens", true)]);
}

#[test]
fn what_is_no_state_says_what_it_is() {
    let field = |from: &str, to: &str| {
        assert!(TERRAFORM.contains(from), "{from}");
        TERRAFORM.replacen(from, to, 1)
    };
    for (text, expected) in [
        (String::new(), "it is empty"),
        ("resource \"a\" \"b\" {}\n".to_owned(), "it is no JSON: expected a JSON value at line 1, column 1"),
        ("[]".to_owned(), "it is JSON, and no state: an object was expected, and an array was found"),
        ("{\"a\": 1}".to_owned(), "it is JSON, and no state: it has no \"version\""),
        ("{\"encrypted_data\": \"x\", \"serial\": 1}".to_owned(), "it is encrypted"),
        (field("\"version\": 4", "\"version\": 5"), "it is a state of version 5, and version 4 was expected"),
        (field("\"serial\": 11", "\"serial\": \"11\""), "serial: a whole number was expected, and a string was found"),
        (field("\"lineage\"", "\"linage\""), "the member \"lineage\" is missing"),
        (
            field("\"schema_version\": 0", "\"schema_version\": true"),
            "resources[0].instances[0].schema_version: a whole number was expected, and a boolean was found",
        ),
        (field("\"mode\": \"data\"", "\"mode\": \"date\""), "resources[0].mode: \"managed\" or \"data\" was expected"),
        (
            field("\"index_key\": 1", "\"index_key\": 0"),
            "resources[3].instances[1]: terraform_data.cnt[0] is there twice",
        ),
        (
            field("\"get_attr\"", "\"attr\""),
            "resources[1].instances[0].sensitive_attributes[0][0]: a step of type \"get_attr\" or \"index\" was expected",
        ),
        (field("\"type\": \"string\"", "\"type\": \"str\""), "outputs.sens.type: there is no such type"),
    ] {
        assert_eq!(v4::read(text.as_bytes()).unwrap_err().to_string(), expected);
    }
    assert_eq!(v4::read(b"{\xff").unwrap_err().to_string(), "byte 1 is no UTF-8 text");
}

#[test]
fn a_file_torn_at_any_byte_is_refused() {
    // The last byte is the end of the last line, which JSON does not need.
    for end in 0..OURS.len() - 1 {
        assert!(v4::read(&OURS.as_bytes()[..end]).is_err(), "{end}");
    }
}
