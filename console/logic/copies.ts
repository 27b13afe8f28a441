import { lossText } from './losses.ts'
import { redactedFrame } from './redact.ts'
import type { TurnDetail, Wire, WireFrame } from './types.ts'

/** Texts to copy from a turn. */

/** The door of a turn: the endpoint that its request was sent to. */
export interface DoorPlace {
  /** The address of the gateway, without a slash at its end. */
  origin: string
  /** The agent that gets the turn. */
  agent: string
  /** The path of the endpoint, where the wire does not say it; absent for a program on stdio. */
  path?: string
  /** The command of the program that stands in for the protocol's agent; absent where there is none. */
  program?: string
  /** The gateway has keys. */
  keys: boolean
}

/** The request of a turn as a command line: curl for an endpoint, else the program with its input. */
export function asCommand(wire: Wire, { origin, agent, path, program, keys }: DoorPlace): string {
  const [first = '', ...rest] = wire.client.filter(({ dir }) => dir === 'in').map(({ text }) => text)
  // A wire that was kept begins with the line of the request, or with the arguments of the program.
  const asked = wire.kept ? /^[A-Z]+ (\/.*)$/.exec(first)?.[1] : path
  const input = wire.kept ? rest : [first, ...rest]
  if (asked === undefined) return programCommand(wire, { agent, program }, input)
  const key = keys ? ` -H "authorization: Bearer $TURNPIKE_KEY"` : ''
  const type = input.length > 1 ? 'application/x-ndjson' : 'application/json'
  const headers = `${key} -H 'content-type: ${type}' -H ${quoted(`turnpike-agent: ${agent}`)}`
  return `curl -sN ${quoted(origin + asked)}${headers} --data-binary ${quoted(input.join('\n'))}`
}

function programCommand(
  { clientProtocol }: Wire,
  { agent, program }: { agent: string; program: string | undefined },
  input: readonly string[],
): string {
  const [protocol = ''] = clientProtocol.split('@')
  return `printf '%s\\n' ${input.map(quoted).join(' ')} | ${program ?? `turnpike as ${protocol}`} --agent ${quoted(agent)}`
}

/** A text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The agent's output as input of `turnpike translate`. */
export function asTranslateInput({ agent }: Wire): string {
  return lines(agent.filter(({ dir }) => dir === 'in').map(({ text }) => text))
}

/** The command that reads it. */
export function translateCommand({ agentProtocol }: Wire, command: string): string {
  return `${command} translate --from ${agentProtocol ?? 'native'} --to native agent.wire`
}

/** A sample for a report: both wires without private texts, and what was lost. */
export function asSample(turn: TurnDetail, wire: Wire, version: string | undefined): string {
  const { state, code, losses = [], timings = {} } = turn
  return lines([
    `# turnpike ${version ?? 'unknown'}: ${wire.clientProtocol} -> ${wire.agentProtocol ?? 'none'}, ${state}${code === undefined ? '' : `, ${code}`}`,
    `# wire: ${wire.kept ? 'as it was' : 'events encoded again'}; letters and digits of private texts are replaced`,
    `# times: ${JSON.stringify(timings)}`,
    ...losses.map((loss) => `# lost: ${lossText(loss)}`),
    '# client',
    ...wire.client.map((frame, at) => sampleLine(frame, wire.kept && at === 0)),
    '# agent',
    ...wire.agent.map((frame) => sampleLine(frame, false)),
  ])
}

/** The line of a request names an endpoint, and nothing private. */
function sampleLine({ dir, seq, text }: WireFrame, isRequest: boolean): string {
  const shown = isRequest && /^[A-Z]+ \/\S*$/.test(text) ? text : redactedFrame(text)
  return `${dir === 'in' ? '<' : '>'} ${seq ?? '-'} ${shown}`
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('')
}
