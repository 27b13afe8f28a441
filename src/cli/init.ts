/**
 * What process 1 of a container owes its system: it collects every process that has lost its parent, which Node.js cannot
 * do for processes that it has not started itself. So a shell becomes process 1 and runs the program as its child: it
 * hands signals on, waits for whatever ends, and ends as the program did.
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

/** Lets a shell become this process, which runs this program again. Returns when there is no way to. */
export function becomeInit(): void {
  const { execve, execPath, execArgv, argv, env } = process
  const known = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  try {
    // Not every system has it.
    execve?.(
      '/bin/sh',
      ['sh', '-c', INIT, 'turnpike-init', execPath, ...execArgv, ...argv.slice(1)],
      Object.fromEntries(known),
    )
  } catch {
    // There is no shell: the program does its work all the same.
  }
}
