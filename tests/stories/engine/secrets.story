A secret is in no output of any command but those that were asked for it.

-- main.tf --
variable "password" {
  type      = string
  sensitive = true
  default   = "hunter2"
}

resource "mock_object" "a" {
  secret = "hunter2"
  value  = "the password is ${var.password}"
  map    = { "open" = "seen", "hidden" = var.password }
}

output "token" {
  value     = mock_object.a.token
  sensitive = true
}
! secret hunter2
$ sliceform plan -out=p
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id     = (known after apply)
|       + map    = {
|           + hidden = (sensitive value)
|           + open   = "seen"
|         }
|       + secret = (sensitive value)
|       + size   = 23
|       + token  = (sensitive value)
|       + value  = (sensitive value)
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
|
| Changes to Outputs:
|   + token = (sensitive value)
|
| Saved the plan to: p
|
| To perform exactly these actions, run:
|     sliceform apply p
$ sliceform show -json p
| {"format_version":"1.2","terraform_version":"1.11.4","variables":{"password":{"value":null}},"planned_values":{"outputs":{"token":{"sensitive":true}},"root_module":{"resources":[{"address":"mock_object.a","mode":"managed","type":"mock_object","name":"a","provider_name":"registry.terraform.io/hashicorp/mock","schema_version":0,"values":{"immutable":null,"map":{"hidden":null,"open":"seen"},"number":null,"secret":null,"size":23,"value":null},"sensitive_values":{"map":{"hidden":true},"secret":true,"token":true,"value":true}}]}},"resource_changes":[{"address":"mock_object.a","mode":"managed","type":"mock_object","name":"a","provider_name":"registry.terraform.io/hashicorp/mock","change":{"actions":["create"],"before":null,"after":{"immutable":null,"map":{"hidden":null,"open":"seen"},"number":null,"secret":null,"size":23,"value":null},"after_unknown":{"id":true,"map":{},"token":true},"before_sensitive":false,"after_sensitive":{"map":{"hidden":true},"secret":true,"token":true,"value":true}}}],"output_changes":{"token":{"actions":["create"],"before":null,"after_unknown":true,"before_sensitive":true,"after_sensitive":true}},"configuration":{"provider_config":{"mock":{"name":"mock","full_name":"registry.terraform.io/hashicorp/mock"}},"root_module":{"outputs":{"token":{"sensitive":true,"expression":{"references":["mock_object.a.token","mock_object.a"]}}},"resources":[{"address":"mock_object.a","mode":"managed","type":"mock_object","name":"a","provider_config_key":"mock","expressions":{"map":{"references":["var.password"]},"secret":{"constant_value":null},"value":{"references":["var.password"]}},"schema_version":0}],"variables":{"password":{"default":null,"sensitive":true}}}},"relevant_attributes":[{"resource":"mock_object.a","attribute":["token"]}],"timestamp":"2023-11-14T22:13:20Z","applyable":true,"complete":true,"errored":false,"sliceform":{"reasons":{"mock_object.a":{"kind":"new"}},"drift":{},"unverified":{},"operations":[],"holds":[],"waves":[],"given_back":[],"excluded":[],"findings":[],"capacity":[],"clusters":{"provider[\"registry.terraform.io/hashicorp/mock\"]":"cluster-1"},"sandbox":false}}
$ sliceform apply p
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/1]
|
| Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
|
| Outputs:
|
| token = <sensitive>
$ sliceform show -json
| {"format_version":"1.0","terraform_version":"1.11.4","values":{"outputs":{"token":{"sensitive":true,"value":null,"type":"string"}},"root_module":{"resources":[{"address":"mock_object.a","mode":"managed","type":"mock_object","name":"a","provider_name":"registry.terraform.io/hashicorp/mock","schema_version":0,"values":{"id":"mock_object.a/1","immutable":null,"map":{"hidden":null,"open":"seen"},"number":null,"secret":null,"size":23,"token":null,"value":null},"sensitive_values":{"map":{"hidden":true},"secret":true,"token":true,"value":true}}]}}}
$ sliceform state show mock_object.a
| # mock_object.a:
| resource "mock_object" "a" {
|     id     = "mock_object.a/1"
|     map    = {
|         hidden = (sensitive value)
|         open   = "seen"
|     }
|     secret = (sensitive value)
|     size   = 23
|     token  = (sensitive value)
|     value  = (sensitive value)
| }
$ sliceform output
| token = <sensitive>
$ sliceform output -raw token
| token of hunter2
