import type { Capabilities } from '../../contract/index.ts'
import { itemsOf, type Part } from '../../model/index.ts'
import { dropped, type ReportLoss } from './carry.ts'
import { withoutExt } from './request-parts.ts'

const PARTS = itemsOf('part')

/**
 * The parts that a front has a place for, also of those within the result of a tool; the same array when all are as they
 * were. What has none is reported, except for parts that are shown by events of their own.
 */
export function carryParts(
  capabilities: Capabilities,
  parts: readonly Part[],
  isShown: (part: Part) => boolean,
  report: ReportLoss,
): readonly Part[] {
  let changed = false
  const kept: Part[] = []
  for (const given of parts) {
    let part = carryPart(capabilities, given, isShown, report)
    if (part?.type === 'tool-reply') {
      const inner = carryParts(capabilities, part.parts, isShown, report)
      if (inner !== part.parts) part = { ...part, parts: inner }
    }
    changed ||= part !== given
    if (part) kept.push(part)
  }
  return changed ? kept : parts
}

function carryPart(
  capabilities: Capabilities,
  part: Part,
  isShown: (part: Part) => boolean,
  report: ReportLoss,
): Part | undefined {
  const item = PARTS[part.type]!
  if (capabilities[item] === 'none') {
    if (!isShown(part)) report(dropped(item))
    return undefined
  }
  const cited = part.type === 'text' && part.citations ? carryCited(capabilities, part, report) : part
  if (cited.ext === undefined || capabilities['part.ext'] !== 'none') return cited
  report({ ...dropped('part.ext'), field: cited.ext.protocol })
  return withoutExt(cited)
}

/** A text with its sources, as far as they have a place. */
function carryCited(capabilities: Capabilities, text: Part & { type: 'text' }, report: ReportLoss): Part {
  const { citations = [], ...bare } = text
  if (capabilities.citation === 'none') {
    report(dropped('citation', citations.length))
    return bare
  }
  if (capabilities['part.ext'] !== 'none') return text
  for (const { ext } of citations) if (ext) report({ ...dropped('part.ext'), field: ext.protocol })
  return { ...bare, citations: citations.map(({ ext: _, ...citation }) => citation) }
}
