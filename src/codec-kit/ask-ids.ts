import type { Id, JsonText } from '../model/index.ts'

/** The id of a question by that of its request: the agent's own, unless another question is open under it. */
export function askOf(request: JsonText, open: ReadonlyMap<Id, unknown>): Id {
  const said: unknown = JSON.parse(request)
  const own = typeof said === 'string' ? said : request
  let ask = own
  for (let number = 2; open.has(ask); number += 1) ask = `${own}#${number}`
  return ask
}
