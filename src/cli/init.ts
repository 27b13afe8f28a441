import { accessSync, constants } from 'node:fs'

const SHELL = '/bin/sh'

/**
 * The script of process 1 of a container, which must reap every orphaned process. Node.js can only reap processes that
 * it started. So a shell becomes process 1 and runs the program as its child: it forwards signals, reaps processes, and
 * exits with the program's code.
 */
const INIT = `
caught=
program=
early=
forward() {
  caught=1
  if [ -n "$program" ]; then kill -s "$1" "$program" 2>/dev/null; else early=$1; fi
}
for signal in TERM INT HUP QUIT USR1 USR2; do trap "forward $signal" "$signal"; done
{ "$@" <&3 3<&- & } 3<&0
program=$!
[ -z "$early" ] || forward "$early"
status=127
while :; do
  wait "$program"
  code=$?
  # Its status is told once: a signal may have come right after it.
  [ "$code" = 127 ] || status=$code
  [ -n "$caught" ] && [ "$code" != 127 ] || break
  caught=
done
exit "$status"
`

/** Replaces this process by a shell that runs this program again. Returns when that is not possible. */
export function becomeInit(): void {
  const { execve, execPath, execArgv, argv, env } = process
  const known = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  try {
    // `execve` ends the process when there is no such program.
    accessSync(SHELL, constants.X_OK)
    // Not every system has it.
    execve?.(
      SHELL,
      ['sh', '-c', INIT, 'turnpike-init', execPath, ...execArgv, ...argv.slice(1)],
      Object.fromEntries(known),
    )
  } catch {
    // There is no shell: the program runs as process 1.
  }
}
