`console` evaluates every line that is piped to it, beside the state and the variables.

-- main.tf --
variable "x" {
  default = "abc"
}

variable "missing" {
  type = number
}

variable "secret" {
  default   = "hush-hush"
  sensitive = true
}

locals {
  list = [var.x, 1]
}

resource "mock_object" "a" {
  value = "here"
}

resource "mock_object" "many" {
  for_each = toset(["k"])
}

module "m" {
  source = "./m"
}
-- m/main.tf --
output "o" {
  value = 1
}
! secret hush-hush
! pipe 'var.x\nlocal.list\n\n# a comment\nvar.secret\nvar.missing + 1\n{\n  a = [1,\n 2]\n}\nmodule.m\n1/3\nmax(1, 2)'
$ sliceform console
| "abc"
| [
|   "abc",
|   1,
| ]
| (sensitive value)
| (known after apply)
| {
|   "a" = [
|     1,
|     2,
|   ]
| }
| {
|   "o" = 1
| }
| 0.33333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333335
| 2
! pipe 'mock_object.a\nmock_object.a.value\nmock_object.many["k"].id'
$ sliceform console
| (known after apply)
| (known after apply)
| (known after apply)
$ sliceform apply -auto-approve -var missing=1
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id    = (known after apply)
|       + size  = 4
|       + value = "here"
|     }
|
|   # mock_object.many["k"] will be created
|   + resource "mock_object" "many" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
| Plan: 2 to add, 0 to change, 0 to destroy.
| mock_object.a: Creating...
| mock_object.many["k"]: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/1]
| mock_object.many["k"]: Creation complete after 0s [id=mock_object.many["k"]/1]
|
| Apply complete! Resources: 2 added, 0 changed, 0 destroyed.
! pipe 'mock_object.a.value\nmock_object.a\nkeys(mock_object.many)'
$ sliceform console
| "here"
| {
|   "id" = "mock_object.a/1"
|   "immutable" = tostring(null)
|   "map" = tomap(null) /* of string */
|   "number" = tonumber(null)
|   "secret" = (sensitive value)
|   "size" = 4
|   "token" = (sensitive value)
|   "value" = "here"
| }
| [
|   "k",
| ]
! pipe 'var.missing\nvar.x'
$ sliceform console -var missing=7 -var x=other
| 7
| "other"

What is wrong does not hide what comes after it, and the exit code tells.

-- wrong.tf --
locals {
  wrong = tonumber(var.x)
}
! pipe 'nope.x\n1 +\nlocal.wrong\nvar.y\n"still here"\nmock_object.many["q"]'
$ sliceform console
| Error: Reference to undeclared resource
|  --> <console-input>:1:1
|   |
| 1 | nope.x
|   | ^^^^^^
|   |
|   = A managed resource "nope" "x" has not been declared in the root module.
|
| Error: Invalid expression
|  --> <console-input>:1:4
|   |
| 1 | 1 +
|   |    ^
|   |
|   = Expected the start of an expression. Found the end of the file.
|
| Error: Invalid function argument
|  --> wrong.tf:2:20
|   |
| 2 |   wrong = tonumber(var.x)
|   |                    ^^^^^
|   |
|   = Invalid value for "v" parameter: cannot convert "abc" to number; given string must be a decimal representation of a number.
|   = var.x is "abc"
| help: This is a call of tonumber(v).
|
| Error: Reference to undeclared input variable
|  --> <console-input>:1:1
|   |
| 1 | var.y
|   | ^^^^^
|   |
|   = An input variable with the name "y" has not been declared. This variable can be declared with a variable "y" {} block.
|
| "still here"
| Error: Invalid index
|  --> <console-input>:1:1
|   |
| 1 | mock_object.many["q"]
|   | ^^^^^^^^^^^^^^^^^^^^^
|   |
|   = mock_object.many["q"] does not exist. It has the instances "k".
|
| [exit 1]

Texts, collections, null and types.

! pipe '"a\\nb"\n{x = "a\\nb\\n"}\n"\\"$${a}"\ntolist(["a"])\ntoset(["b", "a"])\ntomap({ "a b" = 1 })\n[]\n{}\ntolist([])\nnull\ntostring(null)\n[null]\n<<EOT\nx\nEOT\n'
$ sliceform console
| <<EOT
| a
| b
| EOT
| {
|   "x" = <<-EOT
|   a
|   b
|
|   EOT
| }
| "\"${a}"
| tolist([
|   "a",
| ])
| toset([
|   "a",
|   "b",
| ])
| tomap({
|   "a b" = 1
| })
| []
| {}
| tolist([])
| null
| tostring(null)
| [
|   null,
| ]
| <<EOT
| x
|
| EOT
! pipe 'type(local.list)\ntype(var.secret)\ntype(tolist([{a=1}]))\ntype(tomap({a="b"}))\ntype(null)\ntype([])\n[type(1)]\ntype(1, 2)'
$ sliceform console
| tuple([
|     string,
|     number,
| ])
| string
| list(
|     object({
|         a: number,
|     }),
| )
| map(string)
| dynamic
| tuple([])
| Error: Invalid use of type function
|  --> <console-input>:1:2
|   |
| 1 | [type(1)]
|   |  ^^^^^^^
|   |
|   = "type" shows a type to people. It has no value, so that it cannot be a part of an expression.
|
| Error: Wrong number of arguments
|  --> <console-input>:1:1
|   |
| 1 | type(1, 2)
|   | ^^^^^^^^^^
|   |
|   = type takes one argument; found 2.
|
| [exit 1]

`exit` ends it, and `help` helps.

! remove wrong.tf
! pipe 'help\nexit\n1'
$ sliceform console
| Type an expression, and its value is shown: var.name, length(local.names), kubernetes_namespace.a.id.
| An expression goes on in the next line as long as a bracket, a string's ${ or a heredoc is open.
| type(x) shows the type of x. exit, Ctrl-C or Ctrl-D end.
-- main.tf --
resource "mock_object" "a" {
  value = "changed"
}
! pipe 'mock_object.a.value'
$ sliceform console
| "here"
! pipe 'mock_object.a.value'
$ sliceform console -plan
| mock_object.a: Refreshing state...
| mock_object.many["k"]: Refreshing state...
| "changed"
! writes
| create mock_object.a
| create mock_object.many["k"]
