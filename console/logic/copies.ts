import { lossText } from './losses.ts'
import { redactedFrame } from './redact.ts'
import type { TurnDetail, Wire, WireFrame } from './types.ts'

/** Texts to copy from a turn. */

/** What leads to the door that a turn came through. */
export interface DoorPlace {
  /** The address of the gateway, without a slash at its end. */
  origin: string
  /** The path of the endpoint; absent for a program on stdio. */
  path?: string
  /** The command of the program. */
  command?: string
  /** The gateway has keys. */
  keys: boolean
}

/** The request of a turn as a command line: curl for an endpoint, else the program with its input. */
export function asCommand(wire: Wire, { origin, path, command, keys }: DoorPlace): string {
  const input = wire.client.filter(({ dir }) => dir === 'in').map(({ text }) => text)
  if (path === undefined) {
    return `printf '%s\\n' ${input.map(quoted).join(' ')} | ${command ?? `turnpike as ${wire.clientProtocol}`}`
  }
  const key = keys ? ` -H "authorization: Bearer $TURNPIKE_KEY"` : ''
  const type = input.length > 1 ? 'application/x-ndjson' : 'application/json'
  return `curl -sN ${quoted(origin + path)}${key} -H 'content-type: ${type}' --data-binary ${quoted(input.join('\n'))}`
}

/** A text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** What the agent said, as the input of `turnpike translate`. */
export function asTranslateInput({ agent }: Wire): string {
  return lines(agent.filter(({ dir }) => dir === 'in').map(({ text }) => text))
}

/** The command that reads it. */
export function translateCommand({ agentProtocol }: Wire): string {
  return `turnpike translate --from ${agentProtocol} --to native agent.wire`
}

/** A sample for a report: both wires without private texts, and what was lost. */
export function asSample(turn: TurnDetail, wire: Wire, version: string | undefined): string {
  const { state, code, losses = [], timings = {} } = turn
  return lines([
    `# turnpike ${version ?? 'unknown'}: ${wire.clientProtocol} -> ${wire.agentProtocol}, ${state}${code === undefined ? '' : `, ${code}`}`,
    `# wire: ${wire.kept ? 'as it was' : 'events encoded again'}; letters and digits of private texts are replaced`,
    `# times: ${JSON.stringify(timings)}`,
    ...losses.map((loss) => `# lost: ${lossText(loss)}`),
    '# client',
    ...wire.client.map(sampleLine),
    '# agent',
    ...wire.agent.map(sampleLine),
  ])
}

function sampleLine({ dir, seq, text }: WireFrame): string {
  return `${dir === 'in' ? '<' : '>'} ${seq ?? '-'} ${redactedFrame(text)}`
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('')
}
