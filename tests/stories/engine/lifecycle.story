An object comes, changes in place, is replaced, drifts, and goes.

-- main.tf --
resource "mock_object" "a" {
  value = "one"
}

output "id" {
  value = mock_object.a.id
}
$ sliceform plan
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id    = (known after apply)
|       + size  = 3
|       + value = "one"
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
|
| Changes to Outputs:
|   + id = (known after apply)
$ sliceform apply -auto-approve
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id    = (known after apply)
|       + size  = 3
|       + value = "one"
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
|
| Changes to Outputs:
|   + id = (known after apply)
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/1]
|
| Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
|
| Outputs:
|
| id = "mock_object.a/1"
$ sliceform plan -detailed-exitcode
| mock_object.a: Refreshing state...
| No changes. Your infrastructure matches the configuration.
|
| Sliceform has compared the cluster and its nodes with your configuration, and found no differences.
-- main.tf --
resource "mock_object" "a" {
  value = "two"
  map   = { "k" = "v" }
}

output "id" {
  value = mock_object.a.id
}
! type yes
$ sliceform apply
| mock_object.a: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   ~ update in-place
|
|   # mock_object.a will be updated in-place   (differs from configuration: map, value)
|   ~ resource "mock_object" "a" {
|         id    = "mock_object.a/1"
|       ~ map   = null -> {
|             k = "v"
|         }
|       ~ size  = 3 -> (known after apply)
|       ~ value = "one" -> "two"
|     }
|
| Plan: 0 to add, 1 to change, 0 to destroy.
|
| Do you want to perform these actions?
|   Sliceform will perform exactly the actions described above.
|   Only 'yes' will be accepted to approve.
|
|   Enter a value:
| mock_object.a: Modifying...
| mock_object.a: Modifications complete after 0s [id=mock_object.a/1]
|
| Apply complete! Resources: 0 added, 1 changed, 0 destroyed.
|
| Outputs:
|
| id = "mock_object.a/1"
! type no
$ sliceform destroy
| mock_object.a: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   - destroy
|
|   # mock_object.a will be destroyed   (destroy)
|   - resource "mock_object" "a" {
|       - id    = "mock_object.a/1" -> null
|       - map   = {
|           - k = "v" -> null
|         } -> null
|       - size  = 3 -> null
|       - value = "two" -> null
|     }
|
| Plan: 0 to add, 0 to change, 1 to destroy.
|
| Changes to Outputs:
|   - id = "mock_object.a/1" -> null
|
| Do you really want to destroy all resources?
|   Sliceform will destroy everything that is shown above. There is no undo.
|   Only 'yes' will be accepted to approve.
|
|   Enter a value:
| Destroy cancelled. Nothing was changed.
| [exit 1]
! drift mock_object.a/1 value 'by hand'
$ sliceform plan -refresh-only -detailed-exitcode
| mock_object.a: Refreshing state...
| Note: Objects have changed outside of Sliceform
|
|   # mock_object.a has changed
|         id    = "mock_object.a/1"
|       ~ size  = 3 -> 7
|       ~ value = "two" -> "by hand"
|         # (1 unchanged attribute hidden)
|
| This is a refresh-only plan: apply would only store in the state what is written above, and change nothing else.
| [exit 2]
$ sliceform plan -detailed-exitcode
| mock_object.a: Refreshing state...
| Note: Objects have changed outside of Sliceform
|
|   # mock_object.a has changed
|         id    = "mock_object.a/1"
|       ~ size  = 3 -> 7
|       ~ value = "two" -> "by hand"
|         # (1 unchanged attribute hidden)
|
| Sliceform will perform the following actions, indicated with these symbols:
|   ~ update in-place
|
|   # mock_object.a will be updated in-place   (drifted: value)
|   ~ resource "mock_object" "a" {
|         id    = "mock_object.a/1"
|       ~ size  = 7 -> (known after apply)
|       ~ value = "by hand" -> "two"
|         # (1 unchanged attribute hidden)
|     }
|
| Plan: 0 to add, 1 to change, 0 to destroy.
| [exit 2]
-- main.tf --
resource "mock_object" "a" {
  value     = "two"
  map       = { "k" = "v" }
  immutable = "x"
}

output "id" {
  value = mock_object.a.id
}
$ sliceform apply -auto-approve
| mock_object.a: Refreshing state...
| Note: Objects have changed outside of Sliceform
|
|   # mock_object.a has changed
|         id    = "mock_object.a/1"
|       ~ size  = 3 -> 7
|       ~ value = "two" -> "by hand"
|         # (1 unchanged attribute hidden)
|
| Sliceform will perform the following actions, indicated with these symbols:
| -/+ destroy and then create replacement
|
|   # mock_object.a must be replaced   (cannot be changed in place: immutable)
| -/+ resource "mock_object" "a" {
|       ~ id        = "mock_object.a/1" -> (known after apply)
|       ~ immutable = null -> "x" # forces replacement
|       ~ size      = 7 -> 3
|       ~ value     = "by hand" -> "two"
|         # (1 unchanged attribute hidden)
|     }
|
| Plan: 1 to add, 0 to change, 1 to destroy.
|
| Changes to Outputs:
|   ~ id = "mock_object.a/1" -> (known after apply)
| mock_object.a: Destroying...
| mock_object.a: Destruction complete after 0s
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/2]
|
| Apply complete! Resources: 1 added, 0 changed, 1 destroyed.
|
| Outputs:
|
| id = "mock_object.a/2"
$ sliceform state list
| mock_object.a
$ sliceform state show mock_object.a
| # mock_object.a:
| resource "mock_object" "a" {
|     id        = "mock_object.a/2"
|     immutable = "x"
|     map       = {
|         k = "v"
|     }
|     size      = 3
|     value     = "two"
| }
$ sliceform output
| id = "mock_object.a/2"
$ sliceform destroy -auto-approve
| mock_object.a: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   - destroy
|
|   # mock_object.a will be destroyed   (destroy)
|   - resource "mock_object" "a" {
|       - id        = "mock_object.a/2" -> null
|       - immutable = "x" -> null
|       - map       = {
|           - k = "v" -> null
|         } -> null
|       - size      = 3 -> null
|       - value     = "two" -> null
|     }
|
| Plan: 0 to add, 0 to change, 1 to destroy.
|
| Changes to Outputs:
|   - id = "mock_object.a/2" -> null
| mock_object.a: Destroying...
| mock_object.a: Destruction complete after 0s
|
| Destroy complete! Resources: 1 destroyed.
$ sliceform show
| The state is empty. No resources are represented.
! writes
| create mock_object.a
| update mock_object.a
| delete mock_object.a
| create mock_object.a
| delete mock_object.a
! files
| main.tf
| sliceform.tfstate
| sliceform.tfstate.backup
