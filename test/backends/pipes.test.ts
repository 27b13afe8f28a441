import { spawnSync } from 'node:child_process'
import { closeSync, fstatSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { DirectLauncher } from '../../src/backends/direct-process.ts'
import { processBackend } from '../../src/backends/index.ts'
import { PipedProcess } from '../../src/backends/piped-process.ts'
import { closePipes, type Pipe, PipeSupply, type Taken } from '../../src/backends/pipes.ts'
import { createReaper } from '../../src/backends/reaper.ts'
import { config, eventually, numbers, open, run, startedIn, WAYS } from './kit.ts'

const LINUX = process.platform === 'linux'
const take = (supply: PipeSupply) => new Promise<Taken>((then) => supply.take(then))

/** Pipes that must be there. */
async function taken(supply: PipeSupply): Promise<readonly Pipe[]> {
  const pipes = await take(supply)
  if (!pipes || pipes instanceof Error) throw new Error('no pipes')
  return pipes
}

/** Whether a supply has the pipes of an agent ready; they are closed. */
function givesAtOnce(supply: PipeSupply): boolean {
  let ready = false
  let waits = false
  supply.take((pipes) => {
    ready = !waits
    closePipes(pipes as readonly Pipe[])
  })
  waits = true
  return ready
}

describe.skipIf(!LINUX)('pipes (Linux)', () => {
  test('are pipes, each another one, which end when they are closed', async () => {
    const supply = new PipeSupply()
    const all = (await Promise.all(Array.from({ length: 9 }, () => taken(supply)))).flat()
    expect(all.map(({ read }) => fstatSync(read).isFIFO())).not.toContain(false)
    expect(new Set(all.map(({ read }) => fstatSync(read).ino)).size).toBe(27)
    for (const [at, { write }] of all.entries()) {
      writeSync(write, `${at}`)
      closeSync(write)
    }
    for (const [at, { read }] of all.entries()) {
      const bytes = Buffer.alloc(9)
      expect(bytes.toString('latin1', 0, readSync(read, bytes))).toBe(`${at}`)
      expect(readSync(read, bytes)).toBe(0)
      closeSync(read)
    }
  })

  test('of a stock are there at once, as soon as they were made', async () => {
    const supply = new PipeSupply()
    supply.keep(1)
    await eventually(() => givesAtOnce(supply))
  })

  test('are not made ahead by a process that may have few files open', async () => {
    const [few, many] = [new PipeSupply(), new PipeSupply()]
    few.keep(8, 63)
    many.keep(8, 64)
    await eventually(() => givesAtOnce(many))
    expect(givesAtOnce(few)).toBe(false)
    closePipes(await taken(few))
  })

  test('are taken from those that there were before', async () => {
    const first = await taken(new PipeSupply())
    expect(await take(new PipeSupply(first))).toStrictEqual(first)
    closePipes(first)
  })
})

describe.each(WAYS)('the standard streams of an agent that is started %s', (way) => {
  const backend = processBackend(config(startedIn(way)))
  afterAll(() => backend.close(0))

  const PROGRAMS: readonly (readonly [what: string, script: string, out: string])[] = [
    ['are pipes', '[ -p /dev/stdin ] && [ -p /dev/stdout ] && [ -p /dev/stderr ] && cat', 'in\n'],
    ['can be opened by name', 'cat /dev/stdin > /dev/stdout; echo log > /dev/stderr', 'in\n'],
    ['can be opened by the descriptor', 'cat /dev/fd/0 > /proc/self/fd/1', 'in\n'],
    ['can be opened anew after their end', 'cat; cat /dev/stdin; echo again', 'in\nagain\n'],
    ['can be opened for appending', 'cat >> /dev/stdout; echo log >> /dev/stderr', 'in\n'],
    ['can be opened by programs', 'cat | tee /dev/stderr', 'in\n'],
    ['are blocking', 'head -c 300000 /dev/zero | tr "\\0" x | wc -c; cat', '300000\nin\n'],
  ]
  test.skipIf(!LINUX).each(PROGRAMS)('%s', async (_, script, out) => {
    const call = open(backend, run('sh', '-c', script))
    call.handle.write('in\n')
    call.handle.endInput()
    expect(await call.ended).toMatchObject({ why: 'closed', exitCode: 0 })
    expect(call.text().replaceAll(' ', '')).toBe(out)
  })

  test.skipIf(!LINUX)('are all that it has of the gateway', async () => {
    const call = open(backend, run('ls', '/proc/self/fd'))
    call.handle.endInput()
    await call.ended
    expect(call.text()).toBe(spawnSync('ls', ['/proc/self/fd'], { encoding: 'utf8' }).stdout)
  })

  test.skipIf(!LINUX)('do not wait for input where there is none', async () => {
    const call = open(backend, { kind: 'process', command: 'cat', args: ['/dev/stdin'], stdin: 'end' })
    expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
  })

  test('end with those who hold them: a helper may read on', async () => {
    const call = open(backend, run('sh', '-c', '{ cat; echo read >&2; } & exec 0<&-; wait'))
    call.handle.write('for the helper\n')
    call.handle.endInput()
    expect(await call.ended).toMatchObject({ why: 'closed', exitCode: 0 })
  })

  test('take as much as the agent reads, and no more', async () => {
    const go = join(tmpdir(), `turnpike-go-${process.pid}`)
    const call = open(backend, run('sh', '-c', 'until [ -e "$0" ]; do sleep 0.02; done; wc -c', go))
    const piece = 'x'.repeat(256 * 1024)
    let keepsUp = true
    for (let at = 0; at < 8; at += 1) keepsUp = call.handle.write(piece)
    expect(keepsUp).toBe(false)
    call.handle.endInput()
    writeFileSync(go, '')
    expect(await call.ended).toMatchObject({ why: 'closed', exitCode: 0 })
    rmSync(go)
    expect(numbers(call.text())).toEqual([8 * piece.length])
  })

  test('hold up an agent whose output nobody reads', async () => {
    const script = 'head -c 1000000 /dev/zero | tr "\\0" x; echo done >&2'
    const call = open(backend, run('sh', '-c', script))
    await call.until(() => call.text().length > 0)
    call.handle.pause()
    const had = call.text().length
    const other = open(backend, run('sh', '-c', 'echo another'))
    await other.ended
    expect(call.log()).toBe('')
    expect(call.text().length).toBeLessThanOrEqual(had + 65_536)
    call.handle.resume()
    expect(await call.ended).toMatchObject({ exitCode: 0, stderr: 'done\n' })
    expect(call.text()).toHaveLength(1_000_000)
  })

  test('an agent that closes its input breaks the pipe of nobody else', async () => {
    const call = open(backend, run('sh', '-c', 'exec 0<&-; echo closed; sleep 600'))
    await call.until(() => call.text() === 'closed\n')
    for (let at = 0; at < 100; at += 1) call.handle.write('x'.repeat(10_000))
    const other = open(backend, run('sh', '-c', 'cat'))
    other.handle.write('fine')
    other.handle.endInput()
    await other.ended
    expect(other.text()).toBe('fine')
    call.handle.stop('cancelled', 0)
    expect(await call.ended).toStrictEqual({ why: 'cancelled', signal: 'SIGKILL', unread: true })
  })
})

describe('where pipes cannot be made', () => {
  test.each([
    ['the shell is not there', '/no/such/shell'],
    ['the shell ends', '/bin/false'],
    ['the shell makes none', '/bin/echo'],
  ])('because %s, an agent gets sockets', async (_, shell) => {
    let text = ''
    const { promise, resolve } = Promise.withResolvers<void>()
    const events = {
      started() {},
      failed: resolve,
      exited() {},
      output: (piece: string) => {
        text += piece
      },
      outputEnded: resolve,
      log() {},
    }
    const start = { command: 'cat', args: [], cwd: '/', env: { PATH: process.env['PATH'] ?? '' } }
    const launcher = new DirectLauncher(start, createReaper())
    const piped = new PipedProcess(events, launcher, new PipeSupply([], shell))
    piped.write('through ')
    piped.write('a socket')
    piped.endInput()
    await promise
    piped.close()
    expect(text).toBe('through a socket')
  })
})
