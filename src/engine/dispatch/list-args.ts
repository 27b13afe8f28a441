import {
  type Fault,
  fault,
  isRecord,
  type JsonText,
  parse,
  type SessionsArgs,
  type TurnsArgs,
} from '../../model/index.ts'

/** The most rows that a page has. */
export const MOST_ROWS = 200

const STATES: readonly unknown[] = ['running', 'completed', 'failed', 'cancelled'] satisfies TurnsArgs['state'][]

/** The members of the args that are texts. */
const TEXTS = ['agent', 'key', 'q', 'before', 'front', 'back', 'session', 'state'] as const

/** The args of a list of turns, or the reason why they are invalid. An empty text counts as absent: forms send them. */
export function turnsArgs(args: JsonText | undefined): TurnsArgs | Fault {
  const given = args === undefined ? {} : parse(args)
  if (!isRecord(given)) return wrong('they are not a JSON object')
  const { limit = MOST_ROWS, follow, all, state } = given
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > MOST_ROWS) {
    return wrong(`"limit" is not a number from 1 to ${MOST_ROWS}`)
  }
  const texts = TEXTS.filter((name) => given[name] !== undefined && given[name] !== '')
  const bad = texts.find((name) => typeof given[name] !== 'string')
  if (bad) return wrong(`"${bad}" is not a text`)
  if (texts.includes('state') && !STATES.includes(state)) return wrong(`"state" is not one of ${STATES.join(', ')}`)
  return {
    ...Object.fromEntries(texts.map((name) => [name, given[name]])),
    limit: Number(limit),
    ...(follow === true && { follow }),
    ...(all === true && { all }),
  }
}

/** The args of a list of sessions, or the reason why they are invalid. */
export function sessionsArgs(args: JsonText | undefined): SessionsArgs | Fault {
  const read = turnsArgs(args)
  if ('code' in read) return read
  const { front: _front, back: _back, session: _session, state: _state, follow: _follow, ...sessions } = read
  return sessions
}

function wrong(why: string): Fault {
  return fault('invalid-request', `The arguments of the list cannot be read: ${why}.`)
}
