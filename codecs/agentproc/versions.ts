import * as v from 'valibot'
import { type Fault, fault, isRecord, parse } from '../../src/model/index.ts'

/** The versions whose turn is an object on stdin. */
export type TypedVersion = '0.3' | '0.4'
/** The versions that a configuration can name. */
export type Version = '0.1' | TypedVersion

const TYPED: readonly TypedVersion[] = ['0.3', '0.4']
/** 0.2 added optional questions to 0.1: an agent that asks none speaks both. */
const OF_VARIABLES: readonly string[] = ['0.1', '0.2']

/** A version as a runner names it. */
export const versionSchema = v.fallback(
  v.optional(v.union([v.string(), v.pipe(v.number(), v.transform(String))])),
  undefined,
)

const turnSchema = v.looseObject({ type: v.literal('turn'), protocol_version: versionSchema })

/** The wire of a turn object; 0.4 when it names none or one that is not ours. Undefined when the text is no turn object. */
export function wireOfTurn(text: string): TypedVersion | undefined {
  const { success, output } = v.safeParse(turnSchema, parse(text.trim()))
  return success ? (typedVersion(output.protocol_version) ?? '0.4') : undefined
}

/** The reason why a turn object of this version is refused; undefined when it is served. */
export function refusedTurn(named: string | undefined): Fault | undefined {
  return typedVersion(named) ? undefined : refusal('protocol_version', named!)
}

/** The reason why AGENT_ variables of this version are refused; undefined when they are served. */
export function refusedVariables(named: string | undefined): Fault | undefined {
  if (!named || OF_VARIABLES.some((version) => isOf(version, named))) return undefined
  return refusal('AGENT_PROTOCOL_VERSION', named)
}

/** The fault of an agent whose line belongs to another wire than its configuration says; undefined for other lines. */
export function otherWire(configured: Version, line: string): Fault | undefined {
  const versions = versionsOf(line)
  if (versions.length === 0 || versions.includes(configured)) return undefined
  const [spoken] = versions
  const pin = spoken === '0.1' ? 'agentproc' : `agentproc@${spoken}`
  const text = `The agent speaks AgentProc ${spoken}, its configuration says ${configured}; set \`protocol: ${pin}\` for it.`
  return fault('protocol-violation', text)
}

/** True for a line that only wire 0.1 has. */
export function isSentinel(line: string): boolean {
  return /^AGENT_(SESSION|PARTIAL|ERROR):/.test(line)
}

function typedVersion(named: string | undefined): TypedVersion | undefined {
  return named ? TYPED.find((version) => isOf(version, named)) : '0.4'
}

/** True for the version itself and what adds a number to it. */
function isOf(version: string, named: string): boolean {
  return named === version || named.startsWith(`${version}.`)
}

function refusal(field: string, named: string): Fault {
  const ours = `${OF_VARIABLES.join(' and ')} in AGENT_ variables, ${TYPED.join(' and ')} as a turn on stdin`
  const text = `${field} ${JSON.stringify(named.slice(0, 40))} is not supported; supported are ${ours}. Use a runner of one of them.`
  return fault('unsupported-version', text)
}

/** Types of JSON lines: the wires that have them, and the member that makes a line one of them. */
const TYPES: Readonly<Record<string, { member: string; versions: readonly Version[] }>> = {
  partial: { member: 'text', versions: ['0.4', '0.3'] },
  error: { member: 'message', versions: ['0.4', '0.3'] },
  permission_request: { member: 'request_id', versions: ['0.4', '0.3'] },
  result: { member: 'text', versions: ['0.4'] },
  text: { member: 'text', versions: ['0.3'] },
  session: { member: 'id', versions: ['0.3'] },
}

/** The wires that an agent's line is protocol of, the newest first; none for any other line. */
function versionsOf(line: string): readonly Version[] {
  if (isSentinel(line)) return ['0.1']
  const value = line.startsWith('{') ? parse(line) : undefined
  if (!isRecord(value)) return []
  const { type } = value
  if (typeof type !== 'string' || !Object.hasOwn(TYPES, type)) return []
  const { member, versions } = TYPES[type]!
  return typeof value[member] === 'string' ? versions : []
}
