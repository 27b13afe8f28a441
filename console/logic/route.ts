/** The address of what the console shows: the part after `#`, such as `#/turns?agent=coder` or `#/turns/q3-2`. */

/** The pages. */
export const PAGES = ['overview', 'turns', 'try', 'sessions', 'agents', 'matrix'] as const

/** One of the pages. */
export type PageName = (typeof PAGES)[number]

/** A place in the console: a page, on it one thing by its id, and settings of the page. */
export interface Route {
  page: PageName
  id?: string
  query: Readonly<Record<string, string>>
}

/** The route of an address. Unknown pages are the first one. */
export function readRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [name, id] = path.split('/')
  const page = PAGES.find((known) => known === name) ?? PAGES[0]
  const query = Object.fromEntries(new URLSearchParams(search))
  return { page, ...(id !== undefined && id !== '' && { id: decoded(id) }), query }
}

/** The address of a route; settings without a value are left out. */
export function writeRoute(
  page: PageName,
  id?: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '')
  const search = new URLSearchParams(given).toString()
  return `#/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search === '' ? '' : `?${search}`}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
