import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LineWriter } from '../../observability/line-writer.ts'
import { ROOT } from '../kit/gateway.ts'

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
/** More than a pipe holds, in bytes. */
const MUCH = 1_000_000
/** Longer than any of these waits; a test that needs it fails. */
const LONG_MS = 50_000

let folder: string
let count = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-writer-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Both ends of a pipe. */
let reader: number
let writer: number
let open: Set<number>

beforeEach(() => {
  count += 1
  const path = join(folder, `pipe-${count}`)
  spawnSync('mkfifo', [path])
  reader = openSync(path, O_RDONLY | O_NONBLOCK)
  writer = openSync(path, O_WRONLY | O_NONBLOCK)
  open = new Set([reader, writer])
})
afterEach(() => {
  for (const fd of open) closeSync(fd)
})

function close(fd: number): void {
  open.delete(fd)
  closeSync(fd)
}

/** What is in the pipe. */
function read(): string {
  const pieces: Buffer[] = []
  const piece = Buffer.alloc(65_536)
  try {
    for (let size = readSync(reader, piece); size > 0; size = readSync(reader, piece))
      pieces.push(Buffer.from(piece.subarray(0, size)))
  } catch {
    // It is empty.
  }
  return Buffer.concat(pieces).toString()
}

/** Reads until the writer has nothing left. */
async function readAll(lines: LineWriter): Promise<string> {
  let isDone = false
  const done = lines.drained(LONG_MS).then(() => {
    isDone = true
  })
  let text = ''
  while (!isDone) {
    text += read()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await done
  return text + read()
}

describe('a writer of lines', () => {
  test('writes every text once, in order, whatever its size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme', maxLength: 50 })), async (texts) => {
        const lines = new LineWriter(writer, MUCH)
        for (const text of texts) lines.write(text)
        expect(await readAll(lines)).toBe(texts.join(''))
      }),
      { numRuns: 50 },
    )
  })

  test('waits for a reader that stalls, and goes on where it was', async () => {
    const lines = new LineWriter(writer, MUCH)
    const texts = Array.from({ length: 20 }, (_, at) => `${String(at).repeat(20_000).slice(0, 20_000)}\n`)
    for (const text of texts) lines.write(text)
    expect(await readAll(lines)).toBe(texts.join(''))
  })

  test('drops what is too much while the reader stalls, and takes text again afterwards', async () => {
    const lines = new LineWriter(writer, 100_000)
    const texts = Array.from({ length: 9 }, (_, at) => `${at}${'x'.repeat(29_998)}\n`)
    for (const text of texts) lines.write(text)
    expect(await readAll(lines)).toBe(texts.slice(0, 3).join(''))
    lines.write('more\n')
    expect(await readAll(lines)).toBe('more\n')
  })

  test('writes nothing any more when its reader has gone', async () => {
    const lines = new LineWriter(writer, MUCH)
    close(reader)
    lines.write('a\n')
    await lines.drained(LONG_MS)
    lines.write('b\n')
    await lines.drained(LONG_MS)
    lines.flush()
  })

  test('does not wait longer for its reader than it is told', async () => {
    const lines = new LineWriter(writer, MUCH)
    lines.write('x'.repeat(MUCH))
    await lines.drained(1)
    lines.flush()
    expect(read()).toMatch(/^x+$/)
  })

  test('flushes what it waits with, as far as the reader takes it', async () => {
    const lines = new LineWriter(writer, MUCH)
    lines.write('x'.repeat(MUCH))
    await lines.drained(20)
    const before = read()
    lines.flush()
    expect(read().length).toBeGreaterThan(0)
    expect(before.length).toBeGreaterThan(0)
    lines.flush()
    expect(read()).toBe('')
  })

  test('flushes into nothing when the reader has gone meanwhile', async () => {
    const lines = new LineWriter(writer, MUCH)
    lines.write('x'.repeat(MUCH))
    await lines.drained(20)
    close(reader)
    lines.flush()
    await lines.drained(LONG_MS)
  })
})

describe('a process that ends', () => {
  const script = (body: string): string =>
    `const { createLog } = await import(${JSON.stringify(join(ROOT, 'observability/logs.ts'))})
     const log = createLog({ level: 'info', pretty: false })
     ${body}`
  const run = (body: string) =>
    spawn(process.execPath, ['--input-type=module', '-e', script(body)], { stdio: ['pipe', 'pipe', 'pipe'] })

  test('has told its reader all it has logged', async () => {
    const child = run(`for (let n = 0; n < 2000; n += 1) log.info('line', { n })
      await log.flushed()
      process.exit(0)`)
    let text = ''
    child.stderr.on('data', (piece) => {
      text += piece
    })
    const [code] = (await once(child, 'close')) as [number]
    expect([
      code,
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { n: number }).n),
    ]).toEqual([0, Array.from({ length: 2000 }, (_, n) => n)])
  })

  test('waits for a reader that begins late, when nothing else keeps it alive', async () => {
    const child = run(`for (let n = 0; n < 6000; n += 1) log.info('line', { n })
      setTimeout(() => process.stdout.write('ready'), 50)
      await log.flushed()
      process.exit(0)`)
    const ended = once(child, 'close')
    await once(child.stdout, 'data')
    let lines = 0
    child.stderr.on('data', (piece: Buffer) => {
      lines += piece.toString('latin1').split('\n').length - 1
    })
    expect([await ended, lines]).toEqual([[0, null], 6000])
  })

  test.each([
    ['at once', ''],
    ['after the last lines were offered', 'await log.flushed();'],
  ])('ends although the reader of its log has gone: %s', async (_, before) => {
    const child = run(`process.stdin.on('end', async () => { log.info('a'); ${before} log.info('b'); process.exit(0) })
      process.stdin.resume()
      process.stdout.write('ready')`)
    await once(child.stdout, 'data')
    child.stderr.destroy()
    await once(child.stderr, 'close')
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
