import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { processBackend, Starter, type StarterConfig } from '../../src/backends/index.ts'
import { closePipes, PipeSupply, type Taken } from '../../src/backends/pipes.ts'
import type { Backend } from '../../src/contract/index.ts'
import { config, gone, isGone, numbers, open, run, STARTER, twoPids } from './kit.ts'

const starters: Starter[] = []

afterEach(() => {
  for (const starter of starters.splice(0)) starter.close()
})

interface Made {
  starter: Starter
  backend: Backend
  troubles: string[]
  pid: number
}

/** A starter that takes orders, and a backend that gives it some. */
async function make(more: Partial<StarterConfig> = {}): Promise<Made> {
  const troubles: string[] = []
  const starter = new Starter({ program: STARTER, trouble: (message) => troubles.push(message), ...more })
  starters.push(starter)
  await starter.prepare()
  return { starter, backend: processBackend(config({ starter })), troubles, pid: starter.pid ?? 0 }
}

describe('a starter that is killed', () => {
  test('takes its agents with it, honestly, and is followed by another one', async () => {
    const { starter, backend, troubles, pid } = await make()
    const call = open(backend, run('./obey-term.sh'))
    await call.until(() => numbers(call.text()).length === 2)
    process.kill(pid, 'SIGKILL')
    expect(await call.ended).toStrictEqual({ why: 'closed', signal: 'SIGKILL' })
    await gone(...twoPids(call.text()))
    expect(troubles).toStrictEqual(['the process that starts agents has ended; another one is started'])
    expect(await starter.prepare()).toBe(true)
    expect(starter.pid).not.toBe(pid)
    const next = open(backend, run('sh', '-c', 'echo $PPID'))
    await next.ended
    expect(next.text()).toBe(`${starter.pid}\n`)
  })

  test('what its agents had said before counts', async () => {
    const { backend, pid } = await make()
    const call = open(backend, run('sh', '-c', 'echo all of it; exec sleep 600'))
    await call.until(() => call.text() === 'all of it\n')
    call.handle.pause()
    process.kill(pid, 'SIGKILL')
    call.handle.resume()
    expect(await call.ended).toStrictEqual({ why: 'closed', signal: 'SIGKILL' })
    expect(call.text()).toBe('all of it\n')
  })

  test('until there is another one, agents are started directly', async () => {
    const { starter, backend, pid } = await make()
    process.kill(pid, 'SIGKILL')
    const lost = open(backend, run('cat'))
    await lost.ended
    const call = open(backend, run('sh', '-c', 'echo $PPID'))
    expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
    expect([process.pid, starter.pid]).toContain(numbers(call.text())[0])
  })
})

describe('a starter that does not answer', () => {
  const unavailable = {
    why: 'failed',
    fault: {
      code: 'overloaded',
      message: 'The agent command "cat" could not be started: the process that starts agents has ended; try again.',
      retryable: true,
    },
  }

  test('is ended after a while; what it was to start has failed', async () => {
    const { starter, backend, pid } = await make({ silentMs: 50 })
    process.kill(pid, 'SIGSTOP')
    const call = open(backend, run('cat'))
    expect(await call.ended).toStrictEqual(unavailable)
    await gone(pid)
    expect(await starter.prepare()).toBe(true)
  })

  test('a call that is stopped does not wait for it, and nothing is left of what it was to start', async () => {
    const { backend, pid } = await make()
    process.kill(pid, 'SIGSTOP')
    const call = open(backend, run('sh', '-c', 'trap "" TERM; echo $$; sleep 600'))
    call.handle.write('lost')
    call.handle.stop('cancelled', 0)
    expect(await call.ended).toStrictEqual({ why: 'cancelled' })
    process.kill(pid, 'SIGCONT')
    const next = open(backend, run('sh', '-c', 'ps -o pid= --ppid $PPID'))
    await next.ended
    await gone(...numbers(next.text()))
    expect(isGone(pid)).toBe(false)
  })

  test('a call that is stopped before its start is stopped right after it', async () => {
    const { backend } = await make()
    const call = open(backend, { kind: 'process', command: 'sleep', args: ['600'], stdin: 'end' })
    call.handle.stop('timeout', 60_000)
    expect(await call.ended).toStrictEqual({ why: 'timeout', signal: 'SIGTERM' })
    expect(call.said).toStrictEqual(['started', 'end'])
  })
})

test('a starter that cannot be started is tried three times, told of once, and not missed', async () => {
  const { starter, backend, troubles } = await make({ program: '/no/such/program.cjs' })
  const call = open(backend, run('sh', '-c', 'echo $PPID'))
  await call.ended
  expect(call.text()).toBe(`${process.pid}\n`)
  for (let time = 0; time < 4; time += 1) expect(await starter.prepare()).toBe(false)
  expect(troubles).toStrictEqual([
    'the process that starts agents cannot be started (it ended before it started any); the gateway starts agents itself',
  ])
  expect(starter.pid).toBeUndefined()
})

test('a starter is not ended by the signals that end a gateway', async () => {
  const { backend, pid } = await make()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal)
  const call = open(backend, run('sh', '-c', 'echo $PPID'))
  await call.ended
  expect(call.text()).toBe(`${pid}\n`)
})

test('its end ends what it has started, and nothing is left of it', async () => {
  const { starter, backend, pid } = await make()
  const call = open(backend, run('./ignore-term.sh'))
  await call.until(() => numbers(call.text()).length === 2)
  starter.close()
  expect(await call.ended).toStrictEqual({ why: 'closed', signal: 'SIGKILL' })
  await gone(pid, ...twoPids(call.text()))
})

test('agents without input find theirs at its end, a pipe like any other', async () => {
  const { backend } = await make()
  const command = { kind: 'process', command: 'sh', stdin: 'end' } as const
  const calls = Array.from({ length: 3 }, () =>
    open(backend, { ...command, args: ['-c', '[ -p /dev/stdin ] && cat && echo end'] }),
  )
  for (const call of calls) {
    expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
    expect(call.text()).toBe('end\n')
  }
})

describe('the program of the starter', () => {
  /** What it says when it is set up with this descriptor and given an order; undefined when it has ended. */
  async function reported(probe: number, ends: readonly number[]): Promise<unknown[]> {
    const ran = join(tmpdir(), `turnpike-ran-${process.pid}`)
    const program = spawn(process.execPath, [STARTER], { stdio: ['pipe', 'pipe', 'inherit'] })
    const said = createInterface(program.stdout)[Symbol.asyncIterator]()
    const order = { id: 1, ends, command: 'touch', args: [ran], cwd: '/', env: { PATH: process.env['PATH'] } }
    program.stdin.on('error', () => {})
    program.stdin.write(`${JSON.stringify({ gateway: process.pid, probe })}\n${JSON.stringify(order)}\n`)
    const reports = [await said.next(), await said.next()].map(({ value }) => value && JSON.parse(value))
    program.stdin.end()
    if (program.exitCode === null) await once(program, 'exit')
    expect(existsSync(ran)).toBe(false)
    return reports
  }

  test('starts no agent one of whose streams is not there', async () => {
    const pipes = await new Promise<Taken>((then) => new PipeSupply().take(then))
    if (!pipes || pipes instanceof Error) throw new Error('There are no pipes.')
    const [stdin, stdout] = pipes
    expect(await reported(stdin.read, [stdin.read, stdout.write, 999_999])).toStrictEqual([
      ['ready'],
      ['failed', 1, 'ESTARTER'],
    ])
    closePipes(pipes)
  })

  test('takes no orders where the descriptors of its gateway cannot be opened', async () => {
    expect(await reported(999_999, [0, 1, 2])).toStrictEqual([undefined, undefined])
  })
})

test('many at once keep their streams apart', async () => {
  const { backend } = await make()
  const calls = Array.from({ length: 60 }, (_, at) => {
    const call = open(backend, run('sh', '-c', 'read line; echo "out $line"; echo "err $line" >&2'))
    call.handle.write(`${at}\n`)
    return call
  })
  for (const [at, call] of calls.entries()) {
    expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0, stderr: `err ${at}\n` })
    expect(call.text()).toBe(`out ${at}\n`)
    expect(call.said.filter((what) => what === 'end')).toHaveLength(1)
  }
})
