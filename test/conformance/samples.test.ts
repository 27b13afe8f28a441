import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AnyCodec, BackContext, CallEnd, Frame, FrontContext } from '../../src/contract/index.ts'
import { frameDecoder } from '../../src/framing/index.ts'
import type { Command, TurnEvent, TurnStart } from '../../src/model/index.ts'
import { framingOfText } from '../../src/translate/framing.ts'
import { driveBack, driveFront, type FrontDrive } from '../kit/drive.ts'

/**
 * Goldens of every codec: `samples/<case>.wire` is what the wire held, `<case>.native.jsonl` what the codec made of it,
 * `<case>.out` what a front wrote back. `ACCEPT=1` rewrites them. New codecs and samples are found by themselves.
 */
const ROOT = join(import.meta.dirname, '../..')
const ACCEPT = process.env['ACCEPT'] === '1'

interface Setup extends Partial<BackContext<unknown>> {
  half?: 'back' | 'front'
  dialect?: string
  start?: Partial<TurnStart>
  context?: Partial<FrontContext>
  end?: CallEnd | null
  turn?: TurnEvent[]
  /** The gateway's answers to a front's commands, by type or `query.WHAT`. */
  replies?: Readonly<Record<string, object>>
}

function sampleFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.wire'))
    .map((file) => join(folder, file))
}

function framesOf(codec: AnyCodec, setup: Setup, wire: string): Frame[] {
  const dialect = codec.dialects[setup.dialect ?? Object.keys(codec.dialects)[0]!]!
  if (framingOfText(wire, dialect.framing) === 'sse') return events(wire)
  if (dialect.framing === 'body') return [wire.replace(/\n$/, '')]
  const lines = wire.replace(/\n$/, '').split('\n')
  return dialect.framing === 'text' ? lines : lines.filter((line) => line.trim() !== '')
}

function events(wire: string): Frame[] {
  const frames: Frame[] = []
  const decoder = frameDecoder('sse', wire.length, { frame: (frame) => frames.push(frame), fault: () => {} })
  decoder.push(wire)
  decoder.end()
  return frames
}

function runBack(codec: AnyCodec, setup: Setup, frames: Frame[]): Record<string, string> {
  const { half: _half, start, end = { why: 'closed', exitCode: 0 }, ...context } = setup
  const drive = driveBack(codec, context)
  drive.link.open?.()
  drive.start('hi', start)
  drive.feed(...frames)
  if (end) drive.link.decodeEnd(end)
  return {
    '.native.jsonl': lines([
      ...drive.events,
      ...drive.losses.map((loss) => ({ loss })),
      ...drive.faults.map((fault) => ({ fault })),
    ]),
  }
}

function runFront(codec: AnyCodec, setup: Setup, frames: Frame[]): Record<string, string> {
  const drive = driveFront(codec, { ...setup.context, ...(setup.dialect && { dialect: setup.dialect }) })
  let answered = 0
  for (const frame of frames) {
    drive.feed(frame)
    for (; answered < drive.commands.length; answered += 1) reply(drive, drive.commands[answered]!, setup.replies)
  }
  if (setup.turn) drive.play(setup.turn)
  const commands = drive.commands.map((command) => ({ command, answer: drive.answers.get(command.exchange) }))
  return {
    '.native.jsonl': lines([
      ...commands,
      ...drive.faults,
      ...drive.losses.map((loss) => ({ loss })),
      ...(drive.exitCode === undefined ? [] : [{ exitCode: drive.exitCode }]),
    ]),
    '.out': drive.sent.map((frame) => `${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`).join(''),
  }
}

function reply({ link }: FrontDrive, command: Command, replies: Setup['replies'] = {}): void {
  const data = replies[command.type === 'query' ? `query.${command.what}` : command.type]
  const { exchange } = command
  if (data) link.encodeLink?.({ turn: null, type: 'command-reply', exchange, data: JSON.stringify(data) })
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}

for (const protocol of readdirSync(join(ROOT, 'codecs'), { withFileTypes: true }).filter((e) => e.isDirectory())) {
  const folder = join(ROOT, 'codecs', protocol.name)
  describe(protocol.name, () => {
    for (const file of sampleFiles(folder)) {
      test(relative(folder, file), async () => {
        const { codec } = (await import(join(folder, 'index.ts'))) as { codec: AnyCodec }
        const base = file.slice(0, -'.wire'.length)
        const setup = existsSync(`${base}.setup.json`)
          ? (JSON.parse(readFileSync(`${base}.setup.json`, 'utf8')) as Setup)
          : {}
        const frames = framesOf(codec, setup, readFileSync(file, 'utf8'))
        const made = setup.half === 'front' ? runFront(codec, setup, frames) : runBack(codec, setup, frames)
        for (const [ending, text] of Object.entries(made)) {
          if (ACCEPT) writeFileSync(base + ending, text)
          else expect(text, `${base}${ending}`).toBe(readFileSync(base + ending, 'utf8'))
        }
      })
    }
    test('has samples', () => {
      expect(sampleFiles(dirname(join(folder, 'x'))).length).toBeGreaterThan(0)
    })
  })
}
