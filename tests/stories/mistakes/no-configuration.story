A directory without a configuration, one that is not there, a command that is not there, options that exclude each other.

$ sliceform plan
| Error: No configuration files
|   DIR has no files that end in .tf.
|   Go to the directory of the root module, or name it with -chdir=DIR.
|
| [exit 1]
$ sliceform -chdir=nowhere plan
| Error: No such directory
|   There is no directory DIR/nowhere.
|   Check the path behind -chdir.
|
| [exit 1]
$ sliceform aply
| error: unrecognized subcommand 'aply'
|
|   tip: a similar subcommand exists: 'apply'
|
| Usage: sliceform [OPTIONS] <COMMAND>
|
| For more information, try '--help'.
| [exit 1]
$ sliceform plan -destory
| error: unexpected argument '--destory' found
|
|   tip: a similar argument exists: '--destroy'
|
| Usage: sliceform plan --destroy[=<BOOL>]
|
| For more information, try '--help'.
| [exit 1]
$ sliceform plan -destroy -refresh-only
| Error: Incompatible options
|   -refresh-only excludes -destroy.
|
| [exit 1]
