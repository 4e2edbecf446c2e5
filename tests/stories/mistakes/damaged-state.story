A state that is torn, of another tool's format, or of a later release is told, and left as it is.

-- main.tf --
resource "mock_object" "a" {
}
-- sliceform.tfstate --
{"version": 4, "terraform_version": "1.11.4", "serial": 3, "lineage": "f0c5
$ sliceform plan
| Error: Cannot load the state
|   DIR/sliceform.tfstate is no state that can be used: it is no JSON: a control character in a string must be escaped at line 1, column 76.
|   The file was left as it is. If DIR/sliceform.tfstate.backup is whole, put it in the place of DIR/sliceform.tfstate.
|
| [exit 1]
-- sliceform.tfstate --
{"version": 3, "serial": 3, "lineage": "x", "modules": []}
$ sliceform apply -auto-approve
| Error: Cannot load the state
|   DIR/sliceform.tfstate is no state that can be used: it is a state of version 3, and version 4 was expected.
|   The file was left as it is. Bring it to version 4 with Terraform 1.x: terraform state pull, then push.
|
| [exit 1]
-- sliceform.tfstate --
hello
$ sliceform plan
| Error: Cannot load the state
|   DIR/sliceform.tfstate is no state that can be used: it is no JSON: expected a JSON value at line 1, column 1.
|   The file was left as it is. If DIR/sliceform.tfstate.backup is whole, put it in the place of DIR/sliceform.tfstate.
|
| [exit 1]
! files
| main.tf
| sliceform.tfstate
