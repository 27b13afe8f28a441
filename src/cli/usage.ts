import { codecNames } from '../../codecs/index.ts'

const USAGE = `turnpike: any agent client in front, any agent behind

  turnpike serve [--config FILE] [--port N]
      Serves the HTTP endpoints. Without a configuration it runs three small example agents.
  turnpike as PROTOCOL [--agent NAME] [--config FILE] [that protocol's own arguments]
      Stands in for that protocol's agent on stdio: ${codecNames.join(', ')}.
  turnpike conformance PROTOCOL [--client] [--hostile] [--format text|json] [--timeout SECONDS] [--only RULE]
                       (--url URL | -- COMMAND ...)
      Tests an agent, or a client, against a protocol: a line for every rule, or with --hostile for every way in which
      the other side can misbehave. Exit code 1 when one is broken.
  turnpike tail [--session ID] [--agent NAME] [--failed] [--json] [--config FILE]
      Shows the turns of a running gateway as they get further: where, how long, how many tokens, what was lost.
  turnpike check [--config FILE]
      Reads the configuration and says what is wrong with it.
  turnpike translate --from X --to Y|model [--client] [--recorded] [--strict] [--set KEY=VALUE] [FILE] [-- ARGUMENTS]
      What an agent wrote (or its client) in one protocol, as another one, or as the canonical model's values; losses go
      to stderr.
      ARGUMENTS are those that the recorded program had.
  turnpike matrix [--format text|json|markdown] [--from CLIENT] [--to AGENT]
      What a client's protocol keeps, weakens and loses with an agent's.
  turnpike version

The configuration is turnpike.yaml in this folder, or the file that TURNPIKE_CONFIG names.
`

/** `turnpike help`. */
export function helpCommand(): number {
  process.stdout.write(USAGE)
  return 0
}

/** What is said to a command that there is not. */
export function unknownCommand(name: string): number {
  process.stderr.write(`turnpike: there is no command "${name}"\n\n${USAGE}`)
  return 2
}
