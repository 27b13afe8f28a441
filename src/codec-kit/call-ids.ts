import type { Id } from '../model/index.ts'

const CALL_ID = /^[a-z]+_(?<continuation>.+)_n(?<at>\d{1,4})$/s

/** A question of a parked turn: the turn's token, and the place of the question among those that it waits for. */
export interface ParkedCall {
  /** It begins with the turn's id and a full stop. */
  continuation: string
  at: number
}

/**
 * The id of a tool call that the client is to run. It holds the token of the parked turn, so that the request with the
 * result finds the turn although nothing of this exchange is kept. Its characters are those that the servers of models
 * accept: letters, digits, `_` and `-`. `prefix` is the protocol's own, such as `call_`.
 */
export function callIdOf(prefix: 'call_' | 'toolu_' | 'mcpr_', { continuation, at }: ParkedCall): Id {
  return `${prefix}${escapeToken(continuation)}_n${at}`
}

/** A token or the id of a turn as a part of an id on the wire: without full stops, and with `_` only in pairs. */
export function escapeToken(token: string): string {
  return token.replace(/[_.]/g, (char) => (char === '.' ? '_d' : '_u'))
}

/** The token that was escaped; undefined for a text that `escapeToken` does not give. */
export function unescapeToken(escaped: string | undefined): string | undefined {
  if (escaped === undefined || /_(?![ud])/.test(escaped)) return undefined
  return escaped.replace(/_[ud]/g, (pair) => (pair === '_d' ? '.' : '_'))
}

/** The question that a call id stands for; undefined for an id of another server. */
export function parkedCallOf(id: Id): ParkedCall | undefined {
  const { continuation, at } = CALL_ID.exec(id)?.groups ?? {}
  const token = unescapeToken(continuation)
  return token?.includes('.') ? { continuation: token, at: Number(at) } : undefined
}

/** The turn whose token this is. */
export function turnOf({ continuation }: ParkedCall): Id {
  return continuation.slice(0, continuation.lastIndexOf('.'))
}
