The world does not answer: first nobody knows which one it is, then an object cannot be asked for.

-- main.tf --
resource "mock_object" "a" {
}
! fail identity cluster-1
$ sliceform plan
| Error: Cluster does not answer
|   The world refused to say who it is.
|   with provider["registry.terraform.io/hashicorp/mock"]
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
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
| Plan: 1 to add, 0 to change, 0 to destroy.
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/1]
|
| Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
! fail read mock_object.a
$ sliceform plan
| mock_object.a: Refreshing state...
| Error: Object could not be read
| --> main.tf:1:1
|  = The world refused to read mock_object.a.
|  = with mock_object.a
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
! writes
| create mock_object.a
