import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ProcessConfig, processBackend, Starter } from '../../src/backends/index.ts'
import type { Backend, Call } from '../../src/contract/index.ts'
import { config, eventually, gone, numbers, open, STARTER, type Watched } from './kit.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-shells-')))
const cwd = join(folder, "it's here")
mkdirSync(cwd)
/** Says all that a program can know of its start. */
const AGENT = join(folder, 'agent.sh')
const SCRIPT = `#!/bin/sh
echo "$$"
tr '\\0' '\\n' < /proc/$$/environ | sort
pwd
(cd /proc/$$/fd && echo *)
ps -o pgid=,sess= -p $$ | tr -s ' ' '\\n' | sed "s/^$$\\$/self/"
grep -E '^(Sig|Shd)(Blk|Ign|Cgt|Pnd)' /proc/self/status
for word; do echo "<$word>"; done
cat
`

let starter: Starter
beforeEach(async () => {
  writeFileSync(AGENT, SCRIPT)
  chmodSync(AGENT, 0o755)
  starter = new Starter({ program: STARTER })
  await starter.prepare()
})
afterEach(() => starter.close())
afterAll(() => rmSync(folder, { recursive: true }))

function backendOf(more: Partial<ProcessConfig> = {}): Backend {
  return processBackend(config({ starter, command: AGENT, cwd, hostEnv: { PATH: process.env['PATH'] }, ...more }))
}

const call = (args: string[] = []): Call => ({ kind: 'process', args, stdin: 'end' })

/** The shells that wait for this process's starter. */
function waiting(): number[] {
  const children = readFileSync(`/proc/${starter.pid}/task/${starter.pid}/children`, 'utf8')
  return numbers(children).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('turnpike-shell'))
}

/** Resolves when everything has been reported that has happened, by another agent with these variables. */
async function reported(env: Record<string, string> = {}): Promise<void> {
  await open(processBackend(config({ starter, command: 'true', hostEnv: {}, env })), call()).ended
}

/** Runs it once by an order, and once when both shells wait. */
async function twice(backend: Backend, what: Call, between = () => {}): Promise<[Watched, Watched, number[]]> {
  const first = open(backend, what)
  await first.ended
  await eventually(() => waiting().length === 2)
  const shells = waiting()
  await reported()
  between()
  const second = open(backend, what)
  await second.ended
  return [first, second, shells]
}

/** What an agent said besides its pid and its cookie. */
function facts(text: string): string[] {
  return text
    .split('\n')
    .slice(1)
    .filter((line) => !line.startsWith('TURNPIKE_COOKIE='))
}

describe('an agent that a ready shell becomes', () => {
  test('finds everything as one that was started by an order does', async () => {
    const env = { QUOTED: `it's "$HOME" \\ \`id\``, EMPTY: '', PWD: '/elsewhere', CDPATH: '/', IFS: 'e' }
    const args = [`a 'b' $c`, '', '-n', ' ä\t* ', '$(id);`id`', 'a\\', '\\', '-']
    const [first, second, shells] = await twice(backendOf({ env }), call(args))
    expect(facts(second.text())).toStrictEqual(facts(first.text()))
    expect(second.text()).toContain(args.map((arg) => `<${arg}>\n`).join(''))
    expect(await second.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
    expect(second.said).toStrictEqual(['started', 'data', 'end'])
    expect(numbers(first.text())[0]).not.toBe(shells[0])
    expect(numbers(second.text())[0]).toBe(shells[0])
  })

  test('has its own variables, whatever the last agent had', async () => {
    const env = { HOME: '/a', USER: 'a', TMPDIR: '/a', SHELL: '/a' }
    const last = backendOf({ env })
    const areLike = (pid: number): boolean => readFileSync(`/proc/${pid}/environ`, 'utf8').includes('SHELL=/a\0')
    do {
      await open(last, call()).ended
      await eventually(() => waiting().length === 2)
    } while (!waiting().every(areLike))
    await reported(env)
    const shells = waiting()
    const other = open(backendOf({ env: { HOME: '/b', USER: '', TMPDIR: '/a', LOGNAME: 'b' } }), call())
    await other.ended
    const path = `PATH=${process.env['PATH']}`
    const own = ['HOME=/b', 'LOGNAME=b', path, 'TMPDIR=/a', 'USER=', cwd]
    expect(facts(other.text()).slice(0, own.length)).toStrictEqual(own)
    expect(shells).toContain(numbers(other.text())[0])
  })

  test('has its input, its exit code and its stderr', async () => {
    const sh = backendOf({ command: 'sh', args: ['-c', 'read line; echo "$line"; echo bad >&2; exit 7'] })
    const [, , shells] = await twice(sh, { kind: 'process', args: ['-c', 'exit 0'], stdin: 'end' })
    const agent = open(sh, { kind: 'process', stdin: 'open' })
    agent.handle.write('hello\n')
    expect(await agent.ended).toStrictEqual({ why: 'closed', exitCode: 7, stderr: 'bad\n' })
    expect(agent.text()).toBe('hello\n')
    expect(shells).toHaveLength(2)
  })
})

describe('a shell does not become', () => {
  test('an agent that needs what shells cannot do', async () => {
    for (const [name, value] of [
      ['a-b', 'x'],
      ['PPID', '1'],
      ['word', 'x'],
      ['LINES', 'one\ntwo\n'],
      ['LARGE', 'x'.repeat(5000)],
    ] as const) {
      const [first, second, shells] = await twice(backendOf({ env: { [name]: value } }), call())
      expect(facts(second.text())).toStrictEqual(facts(first.text()))
      expect(shells).not.toContain(numbers(second.text())[0])
    }
  })

  test('an agent that cannot be started any more, and says why', async () => {
    const failed = (what: string) => ({
      why: 'failed',
      fault: {
        code: 'agent-unavailable',
        message: `The agent command "agent.sh" could not be started: ${what}.`,
        retryable: false,
      },
    })
    const [, lost] = await twice(backendOf(), call(), () => rmSync(AGENT))
    expect(await lost.ended).toMatchObject(failed('there is no such file; install it or correct `command`'))
    writeFileSync(AGENT, SCRIPT)
    chmodSync(AGENT, 0o755)
    const [, locked] = await twice(backendOf(), call(), () => chmodSync(AGENT, 0o644))
    expect(await locked.ended).toMatchObject(failed('it is not executable; run chmod +x on it or correct `command`'))
  })
})

test('a shell that is killed is replaced', async () => {
  const [, , shells] = await twice(backendOf(), call())
  await eventually(() => waiting().length === 2)
  const killed = waiting()
  for (const pid of killed) process.kill(pid, 'SIGKILL')
  await gone(...killed, ...shells)
  await reported()
  const [, second] = await twice(backendOf(), call())
  expect(await second.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
})

test('the shells end with their gateway, and the starter with them', async () => {
  await twice(backendOf(), call())
  await eventually(() => waiting().length === 2)
  const left = [starter.pid!, ...waiting()]
  starter.close()
  await gone(...left)
})
