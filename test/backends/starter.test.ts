import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { processBackend, Starter, type StarterConfig } from '../../src/backends/index.ts'
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

/** The Unix socket that this process, the gateway, listens on for its starter. */
function socketOf(): string {
  const own = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
  const sockets = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  return sockets.find(
    ([, , , , , , inode, path]) => path?.endsWith('/agents') && own.includes(`socket:[${inode}]`),
  )![7]!
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

describe('a starter whose socket was deleted', () => {
  test('is followed by another one, and ends with the last agent that it has started', async () => {
    const { starter, backend, troubles, pid } = await make()
    const before = open(backend, run('sh', '-c', 'echo $PPID; read line; echo "$line"; exit 7'))
    await before.until(() => before.text() === `${pid}\n`)
    rmSync(dirname(socketOf()), { recursive: true })
    const meanwhile = open(backend, run('sh', '-c', 'echo $PPID'))
    expect(await meanwhile.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
    expect(meanwhile.text()).toBe(`${process.pid}\n`)
    expect(troubles).toStrictEqual(['the socket of the process that starts agents was deleted; another one is started'])
    expect(await starter.prepare()).toBe(true)
    const after = open(backend, run('sh', '-c', 'echo $PPID'))
    await after.ended
    expect(after.text()).toBe(`${starter.pid}\n`)
    before.handle.write('still here\n')
    expect(await before.ended).toStrictEqual({ why: 'closed', exitCode: 7 })
    expect(before.text()).toBe(`${pid}\nstill here\n`)
    await gone(pid)
  })
})

describe('a starter that does not answer', () => {
  const unavailable = {
    why: 'failed',
    fault: {
      code: 'agent-unavailable',
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
    'no process that starts agents could be started (it ended before it started any); the gateway starts them itself',
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
  const folder = dirname(socketOf())
  const call = open(backend, run('./ignore-term.sh'))
  await call.until(() => numbers(call.text()).length === 2)
  starter.close()
  expect(await call.ended).toStrictEqual({ why: 'closed', signal: 'SIGKILL' })
  await gone(pid, ...twoPids(call.text()))
  expect(existsSync(folder)).toBe(false)
})

test('agents without input find theirs at its end, a socket like any other', async () => {
  const { backend } = await make()
  const command = { kind: 'process', command: 'sh', stdin: 'end' } as const
  const calls = Array.from({ length: 3 }, () =>
    open(backend, { ...command, args: ['-c', '[ -S /dev/stdin ] && cat && echo end'] }),
  )
  for (const call of calls) {
    expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
    expect(call.text()).toBe('end\n')
  }
})

test('nobody else gets at the streams: their folder is closed, and a connection needs the secret', async () => {
  const { backend } = await make()
  const path = socketOf()
  expect(path.startsWith(join(tmpdir(), 'turnpike-'))).toBe(true)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
  const call = open(backend, run('cat'))
  await call.until(() => call.said.includes('started'))
  for (const head of ['00000000-0000-0000-0000-000000000000 1 out\nforged', 'x'.repeat(100), '\n']) {
    const forged = connect(path)
    forged.write(head)
    forged.resume()
    await once(forged, 'close')
  }
  call.handle.endInput()
  expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
  expect(call.text()).toBe('')
})

describe('the program of the starter', () => {
  /** What it says of an order when its gateway does this with the connections of an agent. */
  async function reported(accept: (stream: Socket, head: string) => void): Promise<unknown> {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-program-'))
    const [path, ran] = [join(folder, 'agents'), join(folder, 'ran')]
    const server = createServer((stream) => {
      stream.on('error', () => {})
      stream.once('data', (text) => accept(stream, String(text)))
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const program = spawn(process.execPath, [STARTER], { stdio: ['pipe', 'pipe', 'inherit'] })
    const said = createInterface(program.stdout)[Symbol.asyncIterator]()
    const order = { id: 1, input: true, command: 'touch', args: [ran], cwd: '/', env: { PATH: process.env['PATH'] } }
    program.stdin.write(`${JSON.stringify({ path, secret: 's' })}\n${JSON.stringify(order)}\n`)
    expect(JSON.parse((await said.next()).value!)).toStrictEqual(['ready'])
    const report = JSON.parse((await said.next()).value!)
    program.stdin.end()
    await once(program, 'exit')
    server.close()
    expect(existsSync(ran)).toBe(false)
    rmSync(folder, { recursive: true, force: true })
    return report
  }

  // As the system does when there is no descriptor left for the connection.
  test.each(['in', 'out', 'err'])('starts no agent whose %s the gateway has not taken', async (lost) => {
    const report = await reported((stream, head) => {
      if (head === `s 1 ${lost}\n`) stream.destroy()
    })
    expect(report).toStrictEqual(['failed', 1, 'EMFILE'])
  })

  test('nor one whose connections the gateway ends', async () => {
    const report = await reported((stream, head) => {
      if (head.startsWith('s 1 ')) stream.end('x')
    })
    expect(report).toStrictEqual(['failed', 1, 'EMFILE'])
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
