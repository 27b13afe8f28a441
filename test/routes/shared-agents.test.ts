/** Several sessions in one process of an agent: they share it, and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

const AGENT = new URL('../kit/agents/acp-many.mjs', import.meta.url).pathname
const agent = (pool: string): string =>
  `{ protocol: acp, command: ${process.execPath}, args: [${AGENT}], pool: ${pool}, limits: { grace: 200ms } }`

/** An agent that speaks another version. */
const NEWER = `read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2}}'; cat`

interface Answer {
  turn: string
  text: string
  outcome?: string
  fault?: { code: string; message: string }
}

describe('an agent whose processes serve several sessions', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`
agents:
  one: ${agent('{ max: 1, sessions: 4 }')}
  two: ${agent('{ max: 2, sessions: 2 }')}
  dies: ${agent('{ max: 1, sessions: 4 }')}
  stuck: ${agent('{ max: 2, sessions: 4 }')}
  full: ${agent('{ max: 1, sessions: 2 }')}
  exits: { protocol: acp, command: sh, args: ["-c", "exit 4"], pool: { max: 1, sessions: 2 } }
  newer: { protocol: acp, command: sh, args: ["-c", ${JSON.stringify(NEWER)}], pool: { max: 1, sessions: 2 } }
`)
  })
  afterAll(() => gateway.close())

  async function ask(name: string, session: string, input: string, signal?: AbortSignal): Promise<Answer> {
    const response = await fetch(`${gateway.url}/v1/turns/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, session: { id: session } }),
      ...(signal && { signal }),
    })
    return (await response.json()) as Answer
  }

  /** The process and the agent's own session of a session. */
  async function where(name: string, session: string): Promise<string[]> {
    return (await ask(name, session, 'pid')).text.split(' ')
  }

  /** A turn that works until it is cancelled; resolves when the agent has it, with its own id. */
  async function working(name: string, session: string, input = 'work') {
    const abort = new AbortController()
    const response = await fetch(`${gateway.url}/v1/turns/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ input, session: { id: session } }),
      signal: abort.signal,
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let read = ''
    while (!read.includes('text-delta')) read += (await reader.read()).value
    const rest = async (): Promise<string> => {
      for (;;) {
        const { value, done } = await reader.read()
        if (done) return read
        read += value
      }
    }
    return { cancel: () => abort.abort(), rest }
  }

  test('has them in one process, each with a session of its own', async () => {
    const [a, b] = await Promise.all([where('one', 'a'), where('one', 'b')])
    expect(a![0]).toBe(b![0])
    expect([a![1], b![1]].toSorted()).toEqual([`${a![0]}.1`, `${a![0]}.2`])
    expect(await where('one', 'a')).toEqual(a)
  })

  test('starts as many processes as it may have, and no more', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((session) => where('two', session)))
    expect(new Set(all.map(([pid]) => pid)).size).toBe(2)
  })

  test('gives way with an idle session where all of them are taken', async () => {
    const all = await Promise.all(['a', 'b'].map((session) => where('full', session)))
    const [pid, session] = await where('full', 'c')
    expect([pid, session]).toEqual([all[0]![0], `${pid}.3`])
    // The sessions that give way are loaded again.
    expect([await where('full', 'a'), await where('full', 'b')]).toEqual(all)
  })

  test('goes on with the others when a turn is cancelled', async () => {
    const [first, second] = [await working('one', 'c'), await working('one', 'd')]
    first.cancel()
    const [pid] = await where('one', 'c')
    expect((await where('one', 'a'))[0]).toBe(pid)
    const { turns } = (await (await fetch(`${gateway.url}/v1/turns?agent=one`)).json()) as {
      turns: { state: string }[]
    }
    expect(turns.filter(({ state }) => state === 'cancelled')).toHaveLength(1)
    second.cancel()
  })

  test('ends a process in which a turn does not stop only when the others are done', async () => {
    const [stuck, other] = [await working('stuck', 'a', 'stuck'), await working('stuck', 'b')]
    stuck.cancel()
    // The session whose turn did not stop goes on in another process, and so does everything new.
    const [next] = await where('stuck', 'a')
    expect((await where('stuck', 'c'))[0]).toBe(next)
    other.cancel()
    expect((await where('stuck', 'b'))[0]).toBe(next)
  })

  test('fails every turn that its process leaves behind', async () => {
    const first = await working('dies', 'a')
    const second = await ask('dies', 'b', 'die')
    expect(second.fault?.code).toBe('agent-crashed')
    expect(await first.rest()).toContain('"code":"agent-crashed"')
    const [pid, session] = await where('dies', 'a')
    expect(session).not.toContain(pid)
  })

  test('shows no session what it says about another', async () => {
    const [, theirs] = await where('one', 'e')
    const other = await working('one', 'e')
    const [, name] = await where('one', 'f')
    expect((await ask('one', 'f', `mix ${theirs}`)).text).toBe('mixed')
    other.cancel()
    expect((await where('one', 'f'))[1]).toBe(name)
  })

  test.each([
    ['exits', 'agent-unavailable'],
    ['newer', 'unsupported-version'],
  ])('that never gets ready fails every turn: %s', async (name, code) => {
    const answers = await Promise.all(['a', 'b', 'c'].map((session) => ask(name, session, 'pid')))
    expect(answers.map(({ fault }) => fault?.code)).toEqual([code, code, code])
  })

  test('has one session for one client, whatever it calls them', async () => {
    await ask('one', 'g', 'again')
    expect((await ask('one', 'h', 'pid')).fault?.message).toContain('had made before')
  })
})
