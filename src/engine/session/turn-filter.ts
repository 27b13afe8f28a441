import type { Id, TurnInfoReply, TurnsArgs } from '../../model/index.ts'

/**
 * The conditions of a list of turns. `state` is left out where changes are followed, so that a turn is seen to leave
 * it.
 */
export type TurnConditions = Pick<TurnsArgs, 'agent' | 'front' | 'back' | 'session' | 'state' | 'key' | 'q'>

/** True for a turn that the conditions ask for; `id` is the gateway's id of its session. */
export function matchesTurn(info: TurnInfoReply, id: Id, conditions: TurnConditions): boolean {
  const { agent, front, back, session, state, key, q } = conditions
  return (
    isOne(agent, info.agent) &&
    isOne(front, info.front) &&
    isOne(back, info.back) &&
    isOne(state, info.state) &&
    isOne(key, info.key) &&
    (session === undefined || session === info.session || session === id) &&
    (q === undefined || textOf(info).includes(asciiLower(q)))
  )
}

function isOne(wanted: string | undefined, found: string | undefined): boolean {
  return wanted === undefined || wanted === found
}

function textOf({ turn, request = '', session, error = '' }: TurnInfoReply): string {
  return asciiLower([turn, request, session, error].join('\n'))
}

/** Lower case for ASCII letters only, as the stores compare. */
function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}
