import { callIdOf, escapeToken, type ParkedCall, parkedCallOf, unescapeToken } from '../../../src/codec-kit/index.ts'
import type { AskOption, Id } from '../../../src/model/index.ts'
import { narrowestOption } from '../../../src/model/index.ts'

/**
 * A response by its id: a turn from its beginning, or (`continuation`) from its continuation after a park, until its
 * end or the next park.
 */
export interface ResponseRef {
  turn: Id
  continuation?: string
  /** False when its client wants no record of it: then its id finds nothing. */
  stored: boolean
}

const RESPONSE_ID = /^resp(?<unstored>n?)_(?<token>.+)$/s
const ITEM_ID = /^[a-z]+_(?<token>.+)_i\d+$/s
const APPROVAL_ID = /^(?<call>mcpr_.+)_o(?<allow>[a-zA-Z0-9-]*)_o(?<deny>[a-zA-Z0-9-]*)$/s

/** The id of a response. It is the same each time that the turn is written again. */
export function responseId({ turn, continuation = turn, stored }: ResponseRef): Id {
  return `${stored ? 'resp_' : 'respn_'}${escapeToken(continuation)}`
}

/** The response of an id; undefined for an id of another server. */
export function responseOf(id: Id): ResponseRef | undefined {
  const { unstored, token } = RESPONSE_ID.exec(id)?.groups ?? {}
  const named = unescapeToken(token)
  return named === undefined ? undefined : { ...turnOfToken(named), stored: unstored === '' }
}

/** The id of an output item; `at` is its place in the output. */
export function itemId(
  prefix: 'msg' | 'rs' | 'fc' | 'ctc' | 'mcp',
  { turn, continuation = turn }: ResponseRef,
  at: number,
): Id {
  return `${prefix}_${escapeToken(continuation)}_i${at}`
}

/** The id of an item of a response's input; `at` is its place there. Nothing is found by it: the item is its client's. */
export function inputItemId(prefix: string, { turn, continuation = turn }: ResponseRef, at: number): Id {
  return `${prefix}_${escapeToken(continuation)}_u${at}`
}

/** The turn of an output item; undefined for an item of another server. */
export function turnOfItem(id: Id): Id | undefined {
  const named = unescapeToken(ITEM_ID.exec(id)?.groups?.['token'])
  return named === undefined ? undefined : turnOfToken(named).turn
}

function turnOfToken(token: string): { turn: Id; continuation?: string } {
  const dot = token.lastIndexOf('.')
  return dot < 0 ? { turn: token } : { turn: token.slice(0, dot), continuation: token }
}

/** An answer to an approval as its request's id holds it, because nothing of the exchange is kept. */
export interface ApprovalRef {
  call: ParkedCall
  /** The agent's ids of the options. */
  allow: string
  deny: string
}

/** The id of an `mcp_approval_request`: the question, and the options of yes and no that decide the least. */
export function approvalId(call: ParkedCall, options: readonly AskOption[]): Id {
  const allow = narrowestOption(options, 'allow')?.id ?? 'allow'
  const deny = narrowestOption(options, 'deny')?.id ?? 'deny'
  return `${callIdOf('mcpr_', call)}_o${escapeOption(allow)}_o${escapeOption(deny)}`
}

/** The question and the options of an approval's id; undefined for an id of another server. */
export function approvalOf(id: Id): ApprovalRef | undefined {
  const { call = '', allow = '', deny = '' } = APPROVAL_ID.exec(id)?.groups ?? {}
  const parked = parkedCallOf(call)
  return parked && { call: parked, allow: unescapeOption(allow), deny: unescapeOption(deny) }
}

/** Options have the agent's own ids: any character but letters and digits is written as its number. */
function escapeOption(id: string): string {
  return id.replace(/[^A-Za-z0-9]/gu, (char) => `-${char.codePointAt(0)!.toString(16)}-`)
}

function unescapeOption(escaped: string): string {
  return escaped.replace(/-([0-9a-f]{1,5}|10[0-9a-f]{4})-/g, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  )
}
