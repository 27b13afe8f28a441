import { standInNames } from '../../codecs/index.ts'
import { nearest } from '../config/index.ts'
import { ownCommand } from './own-command.ts'

/** The usage text of each command. */
export const USAGES: Readonly<Record<string, string>> = {
  'quick-start': `  turnpike [--config FILE] [--port N] [--open]
      Serves. Without a configuration it first writes one with the agents that are installed here, if there are any.
`,
  serve: `  turnpike serve [--config FILE] [--port N] [--open]
      Serves the HTTP endpoints and the console; --open opens it in a browser. Without a configuration it runs five small
      example agents.
`,
  init: `  turnpike init [--config FILE] [--force]
      Looks for known agents on the PATH and writes a configuration with them; replaces a file only with --force.
`,
  as: `  turnpike as PROTOCOL [--agent NAME] [--config FILE] [that protocol's own arguments]
      Acts as that protocol's agent on stdio: ${standInNames.join(', ')}.
      A running gateway runs the turns (at TURNPIKE_URL, or on the same configuration), else this process does.
`,
  conformance: `  turnpike conformance PROTOCOL [--client] [--hostile] [--format text|json] [--timeout SECONDS] [--only RULE]
                       (--url URL [--model NAME] | -- COMMAND ...)
      Tests an agent, or with --client a client, against a protocol and prints a line for every rule. With --hostile
      it prints a line for every way in which the other side can misbehave. Exit code 1 when a rule is broken.
`,
  tail: `  turnpike tail [--session ID] [--agent NAME] [--failed] [--json] [--plain] [--config FILE]
      Shows the turns of a running gateway as they progress: agent, duration, tokens, losses. On a terminal they fill the
      screen; --plain prints a line for each change instead.
`,
  check: `  turnpike check [--config FILE] [--fix-hints]
      Reads the configuration and prints its resolved values, or its errors; with --fix-hints also what to write instead.
`,
  store: `  turnpike store check | migrate | prune [--older TIME] [--config FILE]
      Says which version the store's tables have, migrates them, or deletes the turns that ended before the retention.
`,
  translate: `  turnpike translate --from X --to Y|model [--client] [--recorded] [--strict] [--set KEY=VALUE] [FILE] [-- ARGUMENTS]
      Translates the output of an agent (with --client, the input of its client) from protocol X to Y, or to the values
      of the canonical model. Losses go to stderr.
      ARGUMENTS are the arguments of the recorded program.
`,
  matrix: `  turnpike matrix [--format text|json|markdown] [--from CLIENT] [--to AGENT]
      Shows the items that each pair of a client's and an agent's protocol keeps, weakens and loses.
`,
  completion: `  turnpike completion bash | zsh | fish
      Prints a script that completes commands and options in that shell: eval "$(turnpike completion bash)"
`,
  version: `  turnpike version
      Prints the version.
`,
}

const ALL = `turnpike: connects any agent client to any agent

${Object.values(USAGES).join('')}
The configuration is turnpike.yaml in this folder, or the file that TURNPIKE_CONFIG names.
`

/** `turnpike help [COMMAND]`, and `--help` of a command: prints its usage, or that of all commands. */
export function helpCommand(name?: string): number {
  process.stdout.write(name !== undefined && Object.hasOwn(USAGES, name) ? USAGES[name]! : ALL)
  return 0
}

/** The error for an unknown command, with the known one that it resembles. Returns the exit code. */
export function unknownCommand(name: string): number {
  const meant = nearest(name, Object.keys(USAGES))
  const hint = meant === undefined ? '' : ` did you mean ${meant}?`
  process.stderr.write(`turnpike: unknown command "${name}";${hint} see ${ownCommand()} help\n`)
  return 2
}
