import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { TURNPIKE } from '../kit/gateway.ts'

/** A namespace of processes, as a container has one, with a /proc of its own. */
const NAMESPACES = [
  ['unshare', '--pid', '--fork', '--mount', '--kill-child'],
  ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount', '--kill-child'],
]
const inside = (command: string): string[] => ['sh', '-c', `mount -t proc proc /proc && ${command}`, 'sh']
const UNSHARE = NAMESPACES.find(([program, ...args]) => spawnSync(program!, [...args, ...inside('true')]).status === 0)

const folder = mkdtempSync(join(tmpdir(), 'turnpike-init-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// It leaves a helper behind in a session of its own, which ends by itself.
const ORPHAN = '(setsid sh -c "exit 0" </dev/null >/dev/null 2>&1 &); echo "said: $AGENT_MESSAGE"'
// It ends when no process of the namespace has ended without being collected, and names process 1.
const LOOK = 'while ps -e -o stat= | grep -q ^Z; do sleep 0.02; done; ps -o args= -p 1 | cut -d " " -f 1,2'
const config = join(folder, 'turnpike.yaml')
const YAML = `server: { port: 0, socket: false }
default: orphan
agents:
  orphan: { protocol: agentproc, command: /bin/sh, args: [-c, '${ORPHAN}'] }
  look: { protocol: agentproc, command: /bin/sh, args: [-c, '${LOOK}'] }
  waits: { protocol: agentproc, command: /bin/sh, args: [-c, 'echo waits; exec sleep 600'] }
store: { kind: sqlite, path: ":memory:" }
`
writeFileSync(config, YAML)

/** This program as process 1. */
function first(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const [program, ...options] = [...UNSHARE!, ...inside('exec "$@"'), process.execPath, TURNPIKE, ...args]
  return spawn(program!, options, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
}

/** What it printed until the text. */
async function until(child: ChildProcess, text: RegExp): Promise<RegExpExecArray> {
  let said = ''
  child.stdout!.setEncoding('utf8')
  for await (const piece of child.stdout!.iterator({ destroyOnReturn: false })) {
    said += piece
    const found = text.exec(said)
    if (found) return found
  }
  throw new Error(`it ended: ${said}`)
}

/** Resolves when a condition that no event tells of holds; a test's own time limit bounds it. */
async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((next) => setTimeout(next, 20))
}

async function ask(url: string, agent: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/turns/${agent}`, { method: 'POST', headers, body: '{"input":"hi"}' })
  return ((await response.json()) as { text: string }).text
}

/** The process 1 of a namespace: what `unshare` has forked. */
function processOne(child: ChildProcess): number {
  return Number(spawnSync('ps', ['-o', 'pid=', '--ppid', `${child.pid}`], { encoding: 'utf8' }).stdout)
}

describe.skipIf(!UNSHARE)('as process 1 of a container (needs unshare)', () => {
  const running: ChildProcess[] = []
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL')
  })

  async function serve(): Promise<{ child: ChildProcess; url: string }> {
    const child = first(['serve', '--config', config])
    running.push(child)
    const [url] = await until(child, /http:\/\/[\d.]+:\d+/)
    return { child, url }
  }

  test('a gateway leaves no zombie of what its agents left behind', async () => {
    const { child, url } = await serve()
    for (let turn = 0; turn < 3; turn += 1) expect(await ask(url, 'orphan')).toBe('said: hi')
    expect(await ask(url, 'look')).toBe('sh -c')
    process.kill(processOne(child), 'SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('a gateway is process 1 itself where there is no shell', async () => {
    const hidden = inside('mount --bind /dev/null "$(readlink -f /bin/sh)" && exec "$@"')
    const [program, ...options] = [...UNSHARE!, ...hidden, process.execPath, TURNPIKE, 'serve', '--config', config]
    const child = spawn(program!, options, { stdio: ['ignore', 'pipe', 'inherit'] })
    running.push(child)
    const [url] = await until(child, /http:\/\/[\d.]+:\d+/)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const args = spawnSync('ps', ['-o', 'args=', '-p', `${processOne(child)}`], { encoding: 'utf8' }).stdout
    expect(args).toContain(TURNPIKE)
    process.kill(processOne(child), 'SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('a gateway reads its configuration again at SIGHUP, and ends at SIGINT', async () => {
    const { child, url } = await serve()
    writeFileSync(config, YAML.replace('said:', 'says:'))
    process.kill(processOne(child), 'SIGHUP')
    await eventually(async () => (await ask(url, 'orphan')) === 'says: hi')
    writeFileSync(config, YAML)
    process.kill(processOne(child), 'SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('a gateway that is killed says so by its exit code', async () => {
    const { child } = await serve()
    const program = Number(
      spawnSync('ps', ['-o', 'pid=', '--ppid', `${processOne(child)}`], { encoding: 'utf8' }).stdout.trim(),
    )
    process.kill(program, 'SIGKILL')
    expect(await once(child, 'exit')).toEqual([137, null])
  })

  test('a stand-in has its input, its output and its exit code', async () => {
    const child = first(['as', 'zene', '--config', config, 'host', '--protocol', 'v1', '--bridge-compat'])
    running.push(child)
    child.stdin!.end('{"request_id":"r1","session_id":"s1","prompt":"hello"}\n')
    const [line] = await until(child, /.*\n/)
    expect(JSON.parse(line)).toMatchObject({ ok: true, text: 'said: hello' })
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0)
    const failed = first(['as', 'nonsense'])
    running.push(failed)
    failed.stdin!.end()
    expect((await once(failed, 'exit'))[0]).toBe(2)
  })

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('a stand-in ends at %s as elsewhere', async (signal) => {
    const args = ['as', 'zot', '--config', config, '--agent', 'waits', 'rpc']
    const ends = async (child: ChildProcess, pid: () => number): Promise<unknown> => {
      running.push(child)
      child.stdin!.write('{"id":"1","type":"ping"}\n')
      await until(child, /"pong":true.*\n/)
      process.kill(pid(), signal)
      return (await once(child, 'exit'))[0]
    }
    const elsewhere = spawn(process.execPath, [TURNPIKE, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
    const expected = await ends(elsewhere, () => elsewhere.pid!)
    expect(expected).toBeTypeOf('number')
    const child = first(args)
    expect(await ends(child, () => processOne(child))).toBe(expected)
  })
})
