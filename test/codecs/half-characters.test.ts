/** Half of a character of two UTF-16 units: JSON can escape it, bytes cannot hold it. No agent gets another text without a loss. */
import { expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import type { Call, Frame } from '../../src/contract/index.ts'
import { driveBack } from '../kit/drive.ts'

const codecs = await loadCodecs()
/** Those that say nothing before their agent has: they write JSON as all the others do. */
const LATE: readonly string[] = ['claude-code', 'codex@app-server']
const backs = Object.values(codecs).flatMap((codec) =>
  Object.entries(codec.dialects).flatMap(([dialect, { back }]) => (back ? [[codec.name, dialect] as const] : [])),
)

/** Everything that is written for an agent, as text. */
const writtenIn = (calls: readonly Call[], sent: readonly Frame[]): string =>
  [
    ...calls.flatMap((call) =>
      call.kind === 'http' ? [call.body] : [...(call.args ?? []), ...Object.values(call.env ?? {})],
    ),
    ...sent.map((frame) => (typeof frame === 'string' ? frame : frame.data)),
  ].join('\n')

const early = backs.filter(([name, dialect]) => !LATE.includes(name) && !LATE.includes(`${name}@${dialect}`))

test.each(early)('%s@%s', (name, dialect) => {
  const process = { command: 'agent', args: [], env: {}, cwd: '/' }
  const drive = driveBack(codecs[name]!, { dialect, recorded: 'both', process })
  drive.link.open?.()
  drive.start('half \ud800.')
  const written = writtenIn(drive.calls, drive.sent)
  expect(written.isWellFormed()).toBe(true)
  const isLost = drive.losses.some(({ kind, item }) => kind === 'weakened' && item === 'part.text')
  expect([written.includes('half \\ud800.'), written.includes('half \ufffd.')]).toEqual([!isLost, isLost])
})
