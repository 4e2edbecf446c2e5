Half of a creation leaves a tainted object, half of a replacement a deposed one. Both are shown, and the next run clears
them away.

-- main.tf --
resource "mock_object" "a" {
  immutable = "one"

  lifecycle {
    create_before_destroy = true
  }
}
! fail create mock_object.a half
$ sliceform apply -auto-approve
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id        = (known after apply)
|       + immutable = "one"
|       + size      = 0
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
| mock_object.a: Creating...
| mock_object.a: Failed after 0s
| Error: Error creating mock_object.a
| --> main.tf:1:1
|  = The world stopped half way while it was asked to create mock_object.a.
|
|
| Apply incomplete. Resources: 0 added, 0 changed, 0 destroyed.
| [exit 1]
$ sliceform show
| # mock_object.a: (tainted)
| resource "mock_object" "a" {
|     id        = "mock_object.a/1"
|     immutable = "one"
|     size      = 0
| }
|
$ sliceform apply -auto-approve
| mock_object.a: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
| +/- create replacement and then destroy
|
|   # mock_object.a is tainted, so must be replaced
| +/- resource "mock_object" "a" {
|       ~ id = "mock_object.a/1" -> (known after apply)
|         # (2 unchanged attributes hidden)
|     }
|
| Plan: 1 to add, 0 to change, 1 to destroy.
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/2]
| mock_object.a: Destroying...
| mock_object.a: Destruction complete after 0s
|
| Apply complete! Resources: 1 added, 0 changed, 1 destroyed.
-- main.tf --
resource "mock_object" "a" {
  immutable = "two"

  lifecycle {
    create_before_destroy = true
  }
}
! fail delete mock_object.a
$ sliceform apply -auto-approve
| mock_object.a: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
| +/- create replacement and then destroy
|
|   # mock_object.a must be replaced   (cannot be changed in place: immutable)
| +/- resource "mock_object" "a" {
|       ~ id        = "mock_object.a/2" -> (known after apply)
|       ~ immutable = "one" -> "two" # forces replacement
|         # (1 unchanged attribute hidden)
|     }
|
| Plan: 1 to add, 0 to change, 1 to destroy.
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/3]
| mock_object.a: Destroying...
| mock_object.a: Failed after 0s
| Error: Error destroying mock_object.a
| --> main.tf:1:1
|  = The world refused to delete mock_object.a.
|
|
| Apply incomplete. Resources: 1 added, 0 changed, 0 destroyed.
| [exit 1]
$ sliceform show
| # mock_object.a:
| resource "mock_object" "a" {
|     id        = "mock_object.a/3"
|     immutable = "two"
|     size      = 0
| }
|
| # mock_object.a: (deposed object 2e2ac13e)
| resource "mock_object" "a" {
|     id        = "mock_object.a/2"
|     immutable = "one"
|     size      = 0
| }
|
$ sliceform plan
| mock_object.a: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   - destroy
|
|   # mock_object.a (deposed object 2e2ac13e) will be destroyed   (unfinished: 1 of 2 steps of a replacement done)
|
| Plan: 0 to add, 0 to change, 1 to destroy.
$ sliceform apply -auto-approve
| mock_object.a: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   - destroy
|
|   # mock_object.a (deposed object 2e2ac13e) will be destroyed   (unfinished: 1 of 2 steps of a replacement done)
|
| Plan: 0 to add, 0 to change, 1 to destroy.
| mock_object.a (deposed object 2e2ac13e): Destroying...
| mock_object.a (deposed object 2e2ac13e): Destruction complete after 0s
|
| Apply complete! Resources: 0 added, 0 changed, 1 destroyed.
$ sliceform show
| # mock_object.a:
| resource "mock_object" "a" {
|     id        = "mock_object.a/3"
|     immutable = "two"
|     size      = 0
| }
|
! writes
| create mock_object.a
| create mock_object.a
| delete mock_object.a
| create mock_object.a
| delete mock_object.a
| delete mock_object.a
