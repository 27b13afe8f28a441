import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, TURNPIKE } from '../kit/gateway.ts'

type Line = Record<string, unknown>

/** A client of the stand-in: writes commands, waits for lines. */
class Client {
  readonly child: ChildProcessWithoutNullStreams
  readonly lines: string[] = []
  readonly ended: Promise<number | null>
  #heard = (): void => {}

  constructor(config: string, agent: string) {
    const args = [TURNPIKE, 'as', 'native', '--config', config, '--agent', agent]
    this.child = spawn(process.execPath, args)
    let rest = ''
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      this.lines.push(...lines)
      this.#heard()
    })
    this.ended = new Promise((resolve) => this.child.on('close', resolve))
  }

  say(command: Line): void {
    this.child.stdin.write(`${JSON.stringify(command)}\n`)
  }

  /** The first line, from number `from` on, of this type. */
  async until(type: string, from = 0): Promise<Line> {
    for (;;) {
      const found = this.lines.slice(from).find((line) => (JSON.parse(line) as Line)['type'] === type)
      if (found !== undefined) return JSON.parse(found) as Line
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
  }

  get types(): unknown[] {
    return this.lines.map((line) => (JSON.parse(line) as Line)['type'])
  }

  end(): Promise<number | null> {
    this.child.stdin.end()
    return this.ended
  }
}

describe.each(['own', 'nested'])('a native client with a native agent (%s)', (agent) => {
  let folder: string
  let config: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-native-'))
    config = join(folder, 'turnpike.yaml')
    const program = join(ROOT, 'test/kit/agents/native.mjs')
    const own = `own: { protocol: native, command: ${process.execPath}, args: [${program}] }`
    // The agent of the nested one is this program again, as a native agent in front of the other.
    const far = join(folder, 'far.yaml')
    writeFileSync(far, `default: own\nagents: { ${own} }\nstore: { kind: sqlite, path: ./far.db }\n`)
    const again = `[${TURNPIKE}, as, native, --config, ${far}]`
    const nested = `nested: { protocol: native, command: ${process.execPath}, args: ${again} }`
    writeFileSync(config, `default: own\nagents:\n  ${own}\n  ${nested}\nstore: { kind: sqlite, path: ./near.db }\n`)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('gets everything through', async () => {
    const client = new Client(config, agent)
    client.say({ type: 'turn-start', exchange: 'e1', turn: 'mine', input: 'hello', session: { id: 's1' } })
    const end = await client.until('turn-end')
    expect(end).toEqual({ type: 'turn-end', turn: 'mine', seq: end['seq'], outcome: 'completed', stop: 'end' })
    // The agent behind is started for this turn, and says too that it is ready.
    expect(client.types.filter((type, at) => type !== 'agent-ready' || at === 0)).toEqual([
      'agent-ready',
      'turn-accepted',
      'turn-started',
      'tool-call',
      'tool-end',
      'message-start',
      ...Array.from({ length: 7 }, () => 'text-delta'),
      'message-end',
      'usage',
      'turn-end',
    ])
    expect(JSON.parse(client.lines.find((line) => line.includes('"turn-started"'))!)).toMatchObject({ place: 1 })
    expect(client.lines.find((line) => line.includes('"tool-call"'))).toContain('"args":{"n":1e400,"n":2.0}')
    client.say({ type: 'query', exchange: 'e2', what: 'state', session: { id: 's1' } })
    expect(await client.until('command-reply')).toMatchObject({ exchange: 'e2', data: { turns: 1 } })
    expect(await client.end()).toBe(0)
  })

  test('answers what the agent asks', async () => {
    const client = new Client(config, agent)
    client.say({ type: 'turn-start', input: 'ask', session: { id: 's2' } })
    expect(await client.until('ask')).toMatchObject({ ask: 'a1', question: { kind: 'approval', args: { f: 'x' } } })
    client.say({ type: 'ask-reply', ask: 'a1', reply: { kind: 'approval', option: 'go' } })
    expect(await client.until('turn-end')).toMatchObject({ outcome: 'completed' })
    const texts = client.lines.map((line) => JSON.parse(line) as Line).filter(({ type }) => type === 'text-delta')
    expect(texts.map(({ text }) => text).join('')).toBe('Answered: go')
    expect(await client.end()).toBe(0)
  })

  test('cancels by its own name of the turn', async () => {
    const client = new Client(config, agent)
    client.say({ type: 'turn-start', turn: 'mine', input: 'wait', session: { id: 's3' } })
    await client.until('turn-started')
    client.say({ type: 'turn-cancel', exchange: 'e2', target: { turn: 'mine' } })
    expect(await client.until('turn-end')).toMatchObject({ turn: 'mine', outcome: 'cancelled' })
    expect(await client.until('command-reply')).toEqual({ type: 'command-reply', turn: null, exchange: 'e2' })
    expect(await client.end()).toBe(0)
  })

  test('is told what it wrote wrongly, and goes on', async () => {
    const client = new Client(config, agent)
    client.child.stdin.write('hello\n')
    expect(await client.until('fault')).toMatchObject({ fault: { code: 'invalid-request' } })
    client.say({ type: 'turn-start', input: 'hello', session: { id: 's4' } })
    expect(await client.until('turn-end')).toMatchObject({ outcome: 'completed' })
    expect(await client.end()).toBe(0)
  })
})
