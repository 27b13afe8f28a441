import type { SessionKey } from '../contract/index.ts'
import { digestOf } from '../startup/index.ts'

/** Marks a text that is stored as JSON. A client's text that begins with it is stored as JSON too. */
const MARK = '\ufdd0'

/**
 * A text of others as stored in a column. The texts of a database are UTF-8, in which all lone surrogates become the
 * same character. A text with one, or with a NUL, is stored as JSON, which escapes them.
 */
export function toColumn(text: string): string {
  const plain = text.isWellFormed() && !text.includes('\0') && !text.startsWith(MARK)
  return plain ? text : `${MARK}${JSON.stringify(text)}`
}

/** A text of others that may be absent, as stored in a column. */
export function column(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text)
}

/** The reverse of `toColumn`. */
export function fromColumn(column: string): string {
  return column.startsWith(MARK) ? (JSON.parse(column.slice(1)) as string) : column
}

/** The values of a session's key, in the order of its columns. */
export function keyValues({ tenant, agent, session, conversation }: SessionKey): [string, string, string, string] {
  return [tenant, agent, session, conversation]
}

/** The same as stored in the columns. */
export function keyColumns({ tenant, agent, session, conversation }: SessionKey): [string, string, string, string] {
  return keyValues({ tenant, agent, session: toColumn(session), conversation: toColumn(conversation) })
}

/**
 * The digest of a session's key. Only it is kept of a deleted session: its agent may still know it, so the next session
 * must differ.
 */
export function keyDigest(key: SessionKey): string {
  return digestOf(JSON.stringify(keyValues(key)))
}
