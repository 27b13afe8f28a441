import type { JournalEntry } from '../contract/index.ts'
import type { Id } from '../model/index.ts'

/**
 * Several events of one turn in one row, one JSON text per line (none holds a raw line feed). `seq` is the first one's.
 */
export interface Block {
  turn: Id
  seq: number
  lines: string
}

/** A row costs more than the text of many small events; blocks longer than this many UTF-16 units save nothing more. */
const BLOCK_UNITS = 65_536

/** Joins events into blocks: each holds consecutive events of one turn. */
export function blocksOf(entries: readonly JournalEntry[]): Block[] {
  const blocks: Block[] = []
  let open: { block: Block; next: number } | undefined
  for (const { turn, seq, json } of entries) {
    if (open?.block.turn === turn && open.next === seq && open.block.lines.length < BLOCK_UNITS) {
      open.block.lines += `\n${json}`
      open.next += 1
    } else {
      open = { block: { turn, seq, lines: json }, next: seq + 1 }
      blocks.push(open.block)
    }
  }
  return blocks
}

/** The events after `after` in a turn's blocks, which come in order. */
export function eventsOf(blocks: readonly Block[], after: number): JournalEntry[] {
  const entries: JournalEntry[] = []
  let last = after
  for (const { turn, seq: first, lines } of blocks) {
    let seq = first
    for (const json of lines.split('\n')) {
      if (seq > last) {
        entries.push({ turn, seq, json })
        last = seq
      }
      seq += 1
    }
  }
  return entries
}
