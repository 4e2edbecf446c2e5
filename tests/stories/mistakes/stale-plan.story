A plan is applied once, and only to the state that it was made from.

-- main.tf --
resource "mock_object" "a" {
}
$ sliceform plan -out=one
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
|
| Saved the plan to: one
|
| To perform exactly these actions, run:
|     sliceform apply one
-- main.tf --
resource "mock_object" "a" {
  value = "two"
}
$ sliceform plan -out=two
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id    = (known after apply)
|       + size  = 3
|       + value = "two"
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
|
| Saved the plan to: two
|
| To perform exactly these actions, run:
|     sliceform apply two
! remove main.tf
$ sliceform apply one
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/1]
|
| Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
$ sliceform apply one
| Error: Saved plan is stale
|   This plan has been applied already, or its apply was begun.
|   Run plan again, and review the new plan.
|
| [exit 1]
$ sliceform apply two
| Error: Saved plan is stale
|   The plan was made from serial 0 of the state, and it was written since: it has serial 1 now.
|   Run plan again, and review the new plan.
|
| [exit 1]
! writes
| create mock_object.a
-- notes --
This is no plan.
$ sliceform apply notes
| Error: notes cannot be used as a plan
|   It is no plan file: it is no zip archive.
|   Make a plan with plan -out=FILE.
|
| [exit 1]
