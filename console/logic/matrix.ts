/** An item that does not pass a pair unchanged, and the reason, as a sentence. */
export interface PairLoss {
  item: string
  kind: 'lost' | 'weakened'
  why: string
}

/** The losses of a pair of protocols. */
export interface MatrixPair {
  client: string
  agent: string
  losses: readonly PairLoss[]
}

/** The matrix of all pairs. */
export interface MatrixAnswer {
  fronts: readonly string[]
  backs: readonly string[]
  pairs: readonly MatrixPair[]
}

/** The groups of items, in the order of a turn; the first whose pattern fits has the item. */
const GROUPS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['The request', /^(?:start|option|session)\.|^turn-start|^session-|^config-set|^turn-(?:cancel|follow|steer)/],
  ['Questions to the gateway', /^query/],
  ['Parts of messages', /^part\./],
  ['Questions of the agent', /^ask/],
  ['Tools', /^tool/],
  ['Tokens and cost', /^usage/],
  ['Everything else of the answer', /./],
]

/** The losses of a pair by what they are about; groups without any are left out. */
export function groupsOf(losses: readonly PairLoss[]): { name: string; losses: readonly PairLoss[] }[] {
  const groups = GROUPS.map(([name]) => ({ name, losses: [] as PairLoss[] }))
  for (const loss of losses) {
    const at = GROUPS.findIndex(([, pattern]) => pattern.test(loss.item))
    groups[at]!.losses.push(loss)
  }
  return groups.filter(({ losses }) => losses.length > 0)
}

/** The shade of a pair's cell by its losses, from 0 (none) to 4. `most` is the highest number of all pairs. */
export function shadeOf(losses: number, most: number): number {
  return losses === 0 ? 0 : Math.min(4, 1 + Math.floor((losses / Math.max(1, most)) * 3.999))
}
