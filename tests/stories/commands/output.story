Outputs are written as expressions: a list is not a tuple, and a set is neither.

-- main.tf --
output "list" {
  value = tolist(["x", "y"])
}

output "tuple" {
  value = ["x", 1, null, true]
}

output "map" {
  value = tomap({ a = 1, "b c" = 2 })
}

output "object" {
  value = { a = 1.5, "b c" = { none = [], text = "l1\nl2\n" } }
}

output "set" {
  value = toset([])
}

output "lines" {
  value = "a\nb"
}

output "quote" {
  value = "a\"b"
}

output "password" {
  value     = ["hush"]
  sensitive = true
}
$ sliceform apply -auto-approve
| Plan: 0 to add, 0 to change, 0 to destroy.
|
| Changes to Outputs:
|   + lines    = "a\nb"
|   + list     = [
|         "x",
|         "y",
|     ]
|   + map      = {
|         a     = 1
|         "b c" = 2
|     }
|   + object   = {
|         a     = 1.5
|         "b c" = {
|             none = []
|             text = <<-EOT
|                 l1
|                 l2
|             EOT
|         }
|     }
|   + password = (sensitive value)
|   + quote    = "a\"b"
|   + set      = []
|   + tuple    = [
|         "x",
|         1,
|         null,
|         true,
|     ]
|
| Apply complete! Resources: 0 added, 0 changed, 0 destroyed.
|
| Outputs:
|
| lines = <<EOT
| a
| b
| EOT
| list = tolist([
|   "x",
|   "y",
| ])
| map = tomap({
|   "a" = 1
|   "b c" = 2
| })
| object = {
|   "a" = 1.5
|   "b c" = {
|     "none" = []
|     "text" = <<-EOT
|     l1
|     l2
|
|     EOT
|   }
| }
| password = <sensitive>
| quote = "a\"b"
| set = toset([])
| tuple = [
|   "x",
|   1,
|   null,
|   true,
| ]
$ sliceform output
| lines = <<EOT
| a
| b
| EOT
| list = tolist([
|   "x",
|   "y",
| ])
| map = tomap({
|   "a" = 1
|   "b c" = 2
| })
| object = {
|   "a" = 1.5
|   "b c" = {
|     "none" = []
|     "text" = <<-EOT
|     l1
|     l2
|
|     EOT
|   }
| }
| password = <sensitive>
| quote = "a\"b"
| set = toset([])
| tuple = [
|   "x",
|   1,
|   null,
|   true,
| ]
$ sliceform output object
| {
|   "a" = 1.5
|   "b c" = {
|     "none" = []
|     "text" = <<-EOT
|     l1
|     l2
|
|     EOT
|   }
| }
$ sliceform output -json password
| ["hush"]
