import { signal } from '@preact/signals'
import { type PageName, readRoute, writeRoute } from '../logic/route.ts'

/** The current route. */
export const route = signal(readRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = readRoute(location.hash)
})

/** Shows a page; the browser's way back leads to the one before. */
export function go(page: PageName, id?: string, query?: Readonly<Record<string, string | undefined>>): void {
  location.hash = writeRoute(page, id, query)
}

/** Changes settings of the page without a further step of history. */
export function change(query: Readonly<Record<string, string | undefined>>): void {
  const { page, id, query: now } = route.value
  history.replaceState(undefined, '', writeRoute(page, id, { ...now, ...query }))
  route.value = readRoute(location.hash)
}
