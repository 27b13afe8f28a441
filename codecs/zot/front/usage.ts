import { dropped, invented, messageLine, type Report } from '../../../src/codec-kit/index.ts'
import { addUsage, type Ext, object, parseObject, type Usage } from '../../../src/model/index.ts'
import { ownExt, ownMember } from '../wire.ts'
import { usageMembers } from './replies.ts'

const REPLACEABLE = new Set(['cumulative'])

/** Writes `usage` messages of one wire, which has one running total. */
export class UsageWriter {
  #total: Usage = {}

  /**
   * A `usage` message; undefined when there is no token in it, since its readers take zeros for facts. `cumulative` is
   * the agent's own when it brings one that readers can use, else the sum over this wire.
   */
  line(usage: Usage, ext: Ext | undefined, report: Report): string | undefined {
    if (usage.input === undefined && usage.output === undefined) {
      report(dropped('usage'))
      return undefined
    }
    for (const field of ['input', 'output', 'costUsd'] as const) {
      if (usage[field] === undefined) report(invented(`usage.${field}`))
    }
    const { reasoning: _, ...counted } = usage
    this.#total = addUsage(this.#total, counted)
    const entries = { type: '"usage"', ...usageMembers(usage), cumulative: object(usageMembers(this.#total)) }
    return messageLine(entries, ownExt(ext), usable(ext) ? REPLACEABLE : undefined)
  }
}

/** True when the agent's total has the one number that every reader looks at. */
function usable(ext: Ext | undefined): boolean {
  const cumulative = parseObject(ownMember(ext, 'cumulative') ?? '')
  return typeof cumulative?.['cost_usd'] === 'number'
}
