Several syntax errors in one file are all told at once, each at its place.

-- main.tf --
resource "mock_object" "a" {
  value = "one" "two"
  number = = 3
}

resource mock_object {

output "x"
  value = 1
}

locals {
  y = [1, 2
  z = "unclosed
}
$ sliceform plan
| Error: Missing newline after argument
|  --> main.tf:2:17
|   |
| 2 |   value = "one" "two"
|   |                 ^
|   |
|   = An argument or block definition must end with a newline. Found a quoted string.
|
| Error: Invalid expression
|  --> main.tf:3:12
|   |
| 3 |   number = = 3
|   |            ^
|   |
|   = Expected the start of an expression. Found "=".
|
| Error: Invalid block definition
|  --> main.tf:8:11
|   |
| 8 | output "x"
|   |           ^
|   |
|   = The opening brace of a block must stand on the line of its header. Found the end of the line.
|
| Error: Missing item separator
|   --> main.tf:14:3
|    |
| 13 |   y = [1, 2
|    |       - opened here
| 14 |   z = "unclosed
|    |   ^
|    |
|    = A comma must separate each item from the next, and a closing bracket must end the list. Found "z".
|
| Error: Invalid multi-line string
|   --> main.tf:14:7
|    |
| 14 |   z = "unclosed
|    |       ^
|    |
|    = A quoted string must end on the line on which it begins. For text of several lines, write \n for each line end, or use a heredoc (<<EOT).
|
| Error: Missing name for resource
|  --> main.tf:6:1
|   |
| 6 | resource mock_object {
|   | ^^^^^^^^^^^^^^^^^^^^
|   |
|   = A resource block has 2 labels (type, name).
|
| [exit 1]
$ sliceform validate
| Error: Missing newline after argument
|  --> main.tf:2:17
|   |
| 2 |   value = "one" "two"
|   |                 ^
|   |
|   = An argument or block definition must end with a newline. Found a quoted string.
|
| Error: Invalid expression
|  --> main.tf:3:12
|   |
| 3 |   number = = 3
|   |            ^
|   |
|   = Expected the start of an expression. Found "=".
|
| Error: Invalid block definition
|  --> main.tf:8:11
|   |
| 8 | output "x"
|   |           ^
|   |
|   = The opening brace of a block must stand on the line of its header. Found the end of the line.
|
| Error: Missing item separator
|   --> main.tf:14:3
|    |
| 13 |   y = [1, 2
|    |       - opened here
| 14 |   z = "unclosed
|    |   ^
|    |
|    = A comma must separate each item from the next, and a closing bracket must end the list. Found "z".
|
| Error: Invalid multi-line string
|   --> main.tf:14:7
|    |
| 14 |   z = "unclosed
|    |       ^
|    |
|    = A quoted string must end on the line on which it begins. For text of several lines, write \n for each line end, or use a heredoc (<<EOT).
|
| Error: Missing name for resource
|  --> main.tf:6:1
|   |
| 6 | resource mock_object {
|   | ^^^^^^^^^^^^^^^^^^^^
|   |
|   = A resource block has 2 labels (type, name).
|
| [exit 1]
! files
| main.tf
