import { codecNames } from '../../codecs/index.ts'

/** How each command is called, and what it does. */
const USAGES: Readonly<Record<string, string>> = {
  serve: `  turnpike serve [--config FILE] [--port N]
      Serves the HTTP endpoints. Without a configuration it runs four small example agents.
`,
  as: `  turnpike as PROTOCOL [--agent NAME] [--config FILE] [that protocol's own arguments]
      Stands in for that protocol's agent on stdio: ${codecNames.join(', ')}.
      A running gateway does the work (at TURNPIKE_URL, or on the same configuration), else this process.
`,
  conformance: `  turnpike conformance PROTOCOL [--client] [--hostile] [--format text|json] [--timeout SECONDS] [--only RULE]
                       (--url URL | -- COMMAND ...)
      Tests an agent, or a client, against a protocol: a line for every rule, or with --hostile for every way in which
      the other side can misbehave. Exit code 1 when one is broken.
`,
  tail: `  turnpike tail [--session ID] [--agent NAME] [--failed] [--json] [--config FILE]
      Shows the turns of a running gateway as they get further: where, how long, how many tokens, what was lost.
`,
  check: `  turnpike check [--config FILE]
      Reads the configuration and says what it means, or what is wrong with it.
`,
  translate: `  turnpike translate --from X --to Y|model [--client] [--recorded] [--strict] [--set KEY=VALUE] [FILE] [-- ARGUMENTS]
      What an agent wrote (or its client) in one protocol, as another one, or as the canonical model's values; losses go
      to stderr.
      ARGUMENTS are those that the recorded program had.
`,
  matrix: `  turnpike matrix [--format text|json|markdown] [--from CLIENT] [--to AGENT]
      What a client's protocol keeps, weakens and loses with an agent's.
`,
  version: `  turnpike version
`,
}

const ALL = `turnpike: any agent client in front, any agent behind

${Object.values(USAGES).join('')}
The configuration is turnpike.yaml in this folder, or the file that TURNPIKE_CONFIG names.
`

/** `turnpike help [COMMAND]`, and `--help` of a command: prints how it is called, or how all are. */
export function helpCommand(name?: string): number {
  process.stdout.write(name !== undefined && Object.hasOwn(USAGES, name) ? USAGES[name]! : ALL)
  return 0
}

/** What is said to a command that there is not. */
export function unknownCommand(name: string): number {
  process.stderr.write(`turnpike: there is no command "${name}"\n\n${ALL}`)
  return 2
}
