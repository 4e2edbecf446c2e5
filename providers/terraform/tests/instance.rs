//! The provider through its contract.

use engine_model::{
    address::{Mode, ResourceAddr},
    change::Action,
    host::FixedHost,
    name::PlanDigest,
};
use engine_value::{Type, Value, convert};
use providers_api::{ApplyRequest, Call, PlanRequest, PlannedChange, Provider, ReadAnswer, ReadRequest, Silent};
use providers_terraform::Terraform;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn an_object_is_made_read_changed_and_gone() {
    let (cancel, host) = (CancellationToken::new(), FixedHost::new(0));
    let call = Call { progress: &Silent, cancel: &cancel, host: &host };
    let terraform = Terraform::new(std::path::PathBuf::new());
    assert_eq!(terraform.addr().to_string(), "terraform.io/builtin/terraform");
    let ty = terraform.schemas().get(Mode::Managed, "terraform_data").unwrap().block.value_type();
    let instance = terraform.configure(&Value::empty_object(), call).await.unwrap();
    assert_eq!(instance.identity(call).await.unwrap(), None);
    let addr: ResourceAddr = "terraform_data.a".parse().unwrap();

    let mut prior = Value::null(ty.clone());
    for (action, input) in [(Action::Create, Some(1)), (Action::Update, Some(2)), (Action::Delete, None)] {
        let config = match input {
            Some(input) => {
                let null = || Value::null(Type::Dynamic);
                let parts =
                    [("id", null()), ("input", Value::int(input)), ("output", null()), ("triggers_replace", null())];
                convert(&Value::object(parts), &ty).unwrap()
            }
            None => Value::null(ty.clone()),
        };
        let request = PlanRequest {
            addr: addr.clone(),
            prior: prior.clone(),
            stored: prior.clone(),
            private: Vec::new(),
            config: config.clone(),
            proposed: config.clone(),
            earlier: Default::default(),
            is_last: false,
        };
        let planned = instance.plan(request, call).await.unwrap();
        let (before, after) = (prior.clone(), planned.object);
        let change = PlannedChange { addr: addr.clone(), action, before, after, config, private: Vec::new() };
        let outcome = instance.apply(ApplyRequest { change, plan: PlanDigest::from("p") }, call).await;
        assert!(outcome.error.is_none());
        let Some(applied) = outcome.now else {
            assert_eq!(input, None);
            continue;
        };
        assert_eq!(applied.object.get("output"), input.map(Value::int).as_ref());
        assert!(action == Action::Create || applied.object.get("id") == prior.get("id"));
        prior = applied.object;

        let request = ReadRequest { addr: addr.clone(), object: prior.clone(), private: Vec::new() };
        let [ReadAnswer::Object(read)] = &instance.read(vec![request], call).await[..] else { panic!("it is gone") };
        assert_eq!(read.object, prior);
    }

    let imported = instance.import("terraform_data", "any", call).await.unwrap();
    assert_eq!(imported.object.get("id").and_then(Value::as_str), Some("any"));
}
