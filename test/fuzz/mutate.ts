/** Changes of what a wire held: of its lines, of the JSON in them, of its bytes. */
import { changedJson } from './json.ts'
import type { Random } from './random.ts'

/** What stands where no line should, or is none of the wire's own. */
const STRAY: readonly string[] = [
  ...['', ' ', '\r', '\0', 'garbage {{{ ]', 'Welcome to Agent 1.0', '[]', 'null', '0', '"text"', '{}', '{"type":null}'],
  ...[
    '{"type":"unknown-thing","id":1}',
    '{"error":{"message":"x"}}',
    '{"a":1}{"b":2}',
    '\u001b[31m{"type":"done"}\u001b[0m',
  ],
  ...[
    '\ufeff{}',
    '{"type":"__proto__"}',
    '{"type":"constructor","subtype":"toString"}',
    'AGENT_PARTIAL:',
    'AGENT_ERROR:{',
  ],
  ...['AGENT_PARTIAL:7', 'AGENT_SESSION:', 'data: {}', 'event: end', ': comment', '2026-01-02T03:04:05Z INFO started'],
]

const BYTES: readonly (readonly number[])[] = [
  [0xff],
  [0xc3],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f],
  [0x00],
  [0x0d],
  [0x0a],
  [0x22],
  [0x5c],
  [0xef, 0xbb, 0xbf],
]

/** The wire with one to four changes; `others` are wires that lines are taken from. */
export function mutated(wire: Buffer, others: readonly Buffer[], random: Random): Buffer {
  let changed = wire
  for (let changes = 1 + random.below(4); changes > 0; changes -= 1) {
    changed = random.once(8)
      ? changedBytes(changed, random)
      : Buffer.from(changedText(changed.toString(), others, random))
  }
  return changed
}

function changedBytes(wire: Buffer, random: Random): Buffer {
  const at = random.below(wire.length + 1)
  switch (random.below(3)) {
    case 0:
      return wire.subarray(0, at)
    case 1:
      return Buffer.concat([wire.subarray(0, at), Buffer.from(random.pick(BYTES)), wire.subarray(at)])
    default: {
      const copy = Buffer.from(wire)
      if (copy.length > 0) copy[at % copy.length] = random.below(256)
      return copy
    }
  }
}

function changedText(text: string, others: readonly Buffer[], random: Random): string {
  // A body over several lines is one value.
  const whole = random.once(2) || !text.includes('\n') ? changedJson(text, random) : undefined
  if (whole !== undefined) return whole
  const lines = text.split('\n')
  changeLines(lines, others, random)
  return lines.join('\n')
}

function changeLines(lines: string[], others: readonly Buffer[], random: Random): void {
  const at = random.below(lines.length)
  const line = lines[at]!
  switch (random.below(16)) {
    case 0:
      lines.splice(at, 1)
      return
    case 1:
      lines.splice(at, 0, ...Array<string>(random.pick([1, 1, 1, 30])).fill(line))
      return
    case 2: {
      const other = random.below(lines.length)
      lines[at] = lines[other]!
      lines[other] = line
      return
    }
    case 3:
      lines[at] = line.slice(0, random.below(line.length + 1))
      return
    case 4:
      lines.splice(at, 0, random.pick(STRAY))
      return
    case 5: {
      const foreign = random.pick(others).toString().split('\n')
      lines.splice(at, 0, random.pick(foreign))
      return
    }
    case 6:
      lines[at] = `${line}${random.pick(['\r', '\u2028', ' ', '\0', ','])}`
      return
    default:
      lines[at] = changedLine(line, random)
  }
}

/** JSON may stand behind a word of the wire (`AGENT_PARTIAL:`, `data: `). */
function changedLine(line: string, random: Random): string {
  const start = line.search(/[[{"]/)
  const json = start < 0 ? undefined : changedJson(line.slice(start), random)
  if (json !== undefined) return line.slice(0, start) + json
  const cut = random.below(line.length + 1)
  return line.slice(0, cut) + random.pick(STRAY) + line.slice(cut)
}
