/** Helpers of this protocol's tests. */
import { codec } from '../../../codecs/native/index.ts'
import { type Frame, type FrontContext, type FrontLink, frameText } from '../../../src/contract/index.ts'
import type { Loss } from '../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../kit/drive.ts'

/** The lines that a link wrote, parsed. */
export function linesOf({ sent }: { sent: readonly Frame[] }): unknown[] {
  return sent.map((frame) => JSON.parse(frameText(frame)) as unknown)
}

/** A front link of an exchange `x1` that has lost this. */
export function lossyFront(
  dialect: 'lines' | 'http',
  losses: readonly Loss[],
  headers: FrontContext['headers'] = {},
): { link: FrontLink; sent: Frame[] } {
  const sent: Frame[] = []
  const context = { method: '', path: '', query: '', argv: [], env: {}, headers }
  const link = codec.dialects[dialect]!.front!.open(
    { ...context, transport: dialect === 'http' ? 'http' : 'stdio' },
    {
      command() {},
      sendRun() {},
      send: (frame) => sent.push(frame),
      warn() {},
      fault() {},
      report() {},
      losses: () => losses,
      newId: () => 'x1',
      close() {},
    },
  )
  return { link, sent }
}

/** A back link whose agent has said that it is ready; nothing is recorded so far. */
export function readyBack(): BackDrive {
  const drive = driveBack(codec)
  drive.link.open!()
  drive.feed('{"type":"agent-ready"}')
  drive.events.length = 0
  return drive
}

/** A back link whose agent has the turn `t1` of exchange `x1`; nothing is recorded so far. */
export function runningBack(): BackDrive {
  const drive = readyBack()
  drive.start('hi')
  drive.sent.length = 0
  return drive
}
