The first interrupt lets what runs come to its end, starts nothing more, and says how to go on.

-- main.tf --
resource "mock_object" "a" {
}

resource "mock_object" "b" {
  value = mock_object.a.id
}
! interrupt create mock_object.a
$ sliceform apply -auto-approve
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
|   # mock_object.b will be created
|   + resource "mock_object" "b" {
|       + id    = (known after apply)
|       + size  = (known after apply)
|       + value = (known after apply)
|     }
|
| Plan: 2 to add, 0 to change, 0 to destroy.
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/1]
| Interrupt received. What runs comes to a safe point, nothing more is begun.
| A second interrupt ends at once; the journal still tells what was begun.
|
| Apply incomplete. Resources: 1 added, 0 changed, 0 destroyed.
|
| Stopped at a safe point, with work left. Run `sliceform apply` to go on from here.
| [exit 4]
$ sliceform apply -auto-approve
| mock_object.a: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.b will be created
|   + resource "mock_object" "b" {
|       + id    = (known after apply)
|       + size  = 15
|       + value = "mock_object.a/1"
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
| mock_object.b: Creating...
| mock_object.b: Creation complete after 0s [id=mock_object.b/1]
|
| Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
! writes
| create mock_object.a
| create mock_object.b
