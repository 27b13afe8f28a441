import type { Id, JsonText } from '../model/index.ts'

/**
 * The id of a question: the agent's own request id, or that id with a number when another question is open under it.
 * Never throws for JSON text.
 */
export function askIdOf(request: JsonText, open: ReadonlyMap<Id, unknown>): Id {
  const said: unknown = JSON.parse(request)
  const own = typeof said === 'string' ? said : request
  let ask = own
  for (let number = 2; open.has(ask); number += 1) ask = `${own}#${number}`
  return ask
}
