import type { JsonText } from '../../../src/model/index.ts'

/**
 * The args of a list from the query of its URL. The list is of everything that the client may see; the gateway says what
 * of it cannot be read.
 */
export function listArgs(query: string): JsonText {
  const { limit, follow: _, ...given } = Object.fromEntries(new URLSearchParams(query))
  const most = limit === undefined || limit === '' ? {} : { limit: /^\d+$/.test(limit) ? Number(limit) : limit }
  return JSON.stringify({ ...given, ...most, all: true, ...(isFollowed(query) && { follow: true }) })
}

/** True for a list whose changes are followed. */
export function isFollowed(query: string): boolean {
  return /(^|&)follow=(1|true)(&|$)/.test(query)
}
