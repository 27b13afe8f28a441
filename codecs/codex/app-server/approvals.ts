import { scalarText } from '../../../src/codec-kit/index.ts'
import {
  type AskOption,
  elements,
  isRecord,
  type JsonText,
  member,
  members,
  object,
  parse,
  quote,
} from '../../../src/model/index.ts'

/** A decision of an approval: the option for the client, and the answer for the agent. */
export interface Decision extends AskOption {
  json: JsonText
}

const ACCEPT: Decision = { id: 'accept', kind: 'allow', scope: 'once', json: '"accept"' }
const SESSION: Decision = { id: 'acceptForSession', kind: 'allow', scope: 'session', json: '"acceptForSession"' }
const DECLINE: Decision = { id: 'decline', kind: 'deny', scope: 'once', json: '"decline"' }
const CANCEL: Decision = {
  id: 'cancel',
  kind: 'deny',
  scope: 'once',
  label: 'Deny, and stop the turn',
  json: '"cancel"',
}
const WORDS: ReadonlyMap<unknown, Decision> = new Map([ACCEPT, SESSION, DECLINE, CANCEL].map((one) => [one.id, one]))

/** The decisions about the changes of files. */
export const FILE_DECISIONS: readonly Decision[] = [ACCEPT, SESSION, DECLINE, CANCEL]

/**
 * The decisions about a command: those that the agent offers, else all that it accepts. To decline is always one of
 * them, because the only other refusal stops the turn.
 */
export function commandDecisions(params: JsonText): readonly Decision[] {
  const offered = elements(member(params, 'availableDecisions') ?? '').flatMap(readDecision)
  const decisions = offered.length > 0 ? offered : [ACCEPT, SESSION, ...proposals(params), CANCEL]
  const others = decisions.filter(({ id }) => id !== DECLINE.id && id !== CANCEL.id)
  return numbered([...others, DECLINE, ...decisions.filter(({ id }) => id === CANCEL.id)])
}

/** The rules that the agent proposes, as decisions. */
function proposals(params: JsonText): Decision[] {
  const rule = member(params, 'proposedExecpolicyAmendment')
  const hosts = elements(member(params, 'proposedNetworkPolicyAmendments') ?? '')
  return [
    ...(rule === undefined || rule === 'null'
      ? []
      : [wrap('acceptWithExecpolicyAmendment', 'execpolicy_amendment', rule)]),
    ...hosts.map((host) => wrap('applyNetworkPolicyAmendment', 'network_policy_amendment', host)),
  ].flatMap(readDecision)
}

function wrap(word: string, key: string, json: JsonText): JsonText {
  return object({ [word]: object({ [key]: json }) })
}

/** A decision as on the wire; undefined when it is not known. */
function readDecision(json: JsonText): Decision[] {
  const value = parse(json)
  const known = WORDS.get(value)
  if (known || !isRecord(value)) return known ? [known] : []
  const [word, details] = members(json)[0] ?? ['', '']
  if (word === 'acceptWithExecpolicyAmendment') {
    const rule: unknown = parse(member(details, 'execpolicy_amendment') ?? '')
    const label = Array.isArray(rule) ? { label: `Allow from now on: ${rule.map(scalarText).join(' ')}` } : {}
    return [{ id: word, kind: 'allow', scope: 'always', ...label, json }]
  }
  if (word !== 'applyNetworkPolicyAmendment') return []
  const amendment = parse(member(details, 'network_policy_amendment') ?? '')
  const { host, action } = isRecord(amendment) ? amendment : {}
  const kind = action === 'deny' ? 'deny' : 'allow'
  const label = `${kind === 'deny' ? 'Deny' : 'Allow'} from now on: ${typeof host === 'string' ? host : 'this host'}`
  return [{ id: word, kind, scope: 'always', label, json }]
}

/** Decisions with ids of their own: later ones of the same id get a number. */
function numbered(decisions: readonly Decision[]): Decision[] {
  const counts = new Map<string, number>()
  return decisions.map((decision) => {
    const count = (counts.get(decision.id) ?? 0) + 1
    counts.set(decision.id, count)
    return count === 1 ? decision : { ...decision, id: `${decision.id}#${count}` }
  })
}

/** The options of these decisions, as a client gets them. */
export function optionsOf(decisions: readonly Decision[]): AskOption[] {
  return decisions.map(({ json: _, ...option }) => option)
}

/** The choices of a request for more permissions. */
export const PERMISSION_OPTIONS: readonly AskOption[] = [
  { id: 'turn', kind: 'allow', scope: 'once' },
  { id: 'session', kind: 'allow', scope: 'session' },
  { id: 'decline', kind: 'deny', scope: 'once' },
]

/** The answer to a request for permissions: what is granted, which may be less than was asked for. */
export function grantJson(option: string, asked: JsonText): JsonText {
  const granted = members(option === 'turn' || option === 'session' ? asked : '{}').filter(
    ([, json]) => json !== 'null',
  )
  return object({ permissions: object(granted), scope: quote(option === 'session' ? 'session' : 'turn') })
}
