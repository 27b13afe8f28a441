import type { Id } from '../../src/model/index.ts'

const CALL_ID = /^call_(?<continuation>.+)_(?<at>\d{1,4})$/

/** A question of a parked turn: the turn's token, and the place of the question among those that it waits for. */
export interface ParkedCall {
  /** It begins with the turn's id and a full stop. */
  continuation: string
  at: number
}

/**
 * The id of a tool call that the client is to run. It holds the token of the parked turn, so that the request with the
 * result finds the turn although nothing of this exchange is kept.
 */
export function callIdOf({ continuation, at }: ParkedCall): Id {
  return `call_${continuation}_${at}`
}

/** The question that a call id stands for; undefined for an id of another server. */
export function parkedCallOf(id: Id): ParkedCall | undefined {
  const { continuation, at } = CALL_ID.exec(id)?.groups ?? {}
  return continuation?.includes('.') ? { continuation, at: Number(at) } : undefined
}

/** The turn whose token this is. */
export function turnOf({ continuation }: ParkedCall): Id {
  return continuation.slice(0, continuation.lastIndexOf('.'))
}
