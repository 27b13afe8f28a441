import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, CLIENTS } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const AGENTS = join(import.meta.dirname, '../kit/agents')

describe('turns', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`
default: helper
limits: { grace: 300ms }
agents:${EXAMPLE_AGENTS}
  diary: { protocol: agentproc, command: ${AGENTS}/diary.sh, args: [], env: { DIARY: "\${TEST_FOLDER}/diary" }, limits: { queue: 2 } }
  silent: { protocol: agentproc, command: ${AGENTS}/silent.sh, args: ["1002"] }
  patient: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/patient-zot.mjs] }
  warm: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/patient-zot.mjs, warm], pool: { warm: 1, max: 2 } }
  deaf: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/patient-zot.mjs, deaf] }
`)
  })
  afterAll(() => gateway.close())

  const diary = (): string[] => {
    const lines = readFileSync(join(gateway.folder, 'diary'), 'utf8').trim().split('\n')
    return lines
  }

  test('of one session run one after another, in the order they came', async () => {
    const ask = (text: string) =>
      askHttp(gateway.url, 'zene', { text, session: 'ordered', agent: 'diary', id: `r-${text}` })
    const answers = await Promise.all([ask('one'), ask('two'), ask('three')])
    expect(answers.map(({ text }) => text)).toEqual(['done: one', 'done: two', 'done: three'])
    expect(diary()).toEqual(['begin one', 'end one', 'begin two', 'end two', 'begin three', 'end three'])
  })

  test('beyond the queue are refused as busy, before anything runs', async () => {
    const ask = (text: string) => askHttp(gateway.url, 'zene', { text, session: 'full', agent: 'diary', id: text })
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(ask))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409])
    const refused = answers.find(({ status }) => status === 409)!
    expect(JSON.parse(refused.raw)).toMatchObject({ ok: false, error_code: 'BUSY' })
    await until(() => diary().filter((line) => /^end [a-e]$/.test(line)).length === 3)
  })

  test('with another body under the id of a running one are refused where the protocol says so, else they run', async () => {
    const ask = (text: string) =>
      askHttp(gateway.url, 'openharness', { text, session: 'bodies', agent: 'diary', id: 'b1' })
    const first = ask('long')
    await until(() => diary().includes('begin long'))
    const second = await ask('other')
    expect(JSON.parse(second.raw)).toMatchObject({ response: { status: 'error', error: { code: 'invalid_request' } } })
    expect(await first).toMatchObject({ ok: true, text: 'done: long' })
    expect(await ask('other')).toMatchObject({ ok: true, text: 'done: other' })
  })

  test('may be many on one wire, without a listener for each', async () => {
    const warned: string[] = []
    const listen = (warning: Error): void => void warned.push(warning.name)
    process.on('warning', listen)
    const prompts = Array.from({ length: 15 }, (_, at) => `{"id":"${at}","type":"prompt","message":"p${at}"}\n`)
    const response = await fetch(`${gateway.url}/v1/zot/coder?session=many`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: prompts.join(''),
    })
    expect((await response.text()).match(/"type":"done"/g)).toHaveLength(15)
    await new Promise(setImmediate)
    process.off('warning', listen)
    expect(warned).toEqual([])
  })

  test('with the same idempotency key share one run, each under its own ids', async () => {
    const ask = async (id: string) => {
      const body = { request_id: id, session_id: 'same', prompt: 'once', idempotency_key: 'k1' }
      const response = await fetch(`${gateway.url}/v1/zene/diary`, {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify(body),
      })
      return (await response.json()) as { request_id: string; text: string }
    }
    const answers = await Promise.all([ask('r1'), ask('r2'), ask('r3')])
    expect(answers.map(({ request_id, text }) => [request_id, text])).toEqual([
      ['r1', 'done: once'],
      ['r2', 'done: once'],
      ['r3', 'done: once'],
    ])
    expect(diary().filter((line) => line === 'begin once')).toHaveLength(1)
    // An old success never answers a new message of the same words.
    expect((await ask('r4')).text).toBe('done: once')
    expect(diary().filter((line) => line === 'begin once')).toHaveLength(2)
  })

  test('answered from their record name turn, agent and losses in the headers as the first answer did', async () => {
    const ask = async () => {
      const { headers } = await fetch(`${gateway.url}/v1/turns`, {
        method: 'POST',
        headers: { ...JSON_TYPE, 'idempotency-key': 'replayed' },
        body: '{"input":"hi","options":{"effort":"high"}}',
      })
      return ['turnpike-turn', 'turnpike-agent', 'turnpike-loss'].map((name) => headers.get(name))
    }
    const first = await ask()
    expect(first.slice(1)).toEqual(['helper', 'dropped=1'])
    expect(await ask()).toEqual(first)
  })

  test('end with their client, down to the last grandchild', async () => {
    const leaving = new AbortController()
    const asked = { text: 'hi', session: 'leaving', id: 'r1' }
    const answer = fetch(`${gateway.url}/v1/zene/silent`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: CLIENTS.zene.write(asked),
      signal: leaving.signal,
    })
    await until(() => pidsOf('silent.sh\u00001002').length === 1 && pidsOf('sleep\u00001002').length >= 1)
    leaving.abort()
    await expect(answer).rejects.toThrow()
    await until(() => pidsOf('silent.sh\u00001002').length === 0 && pidsOf('sleep\u00001002').length === 0)
    await until(() => [...gateway.engine.turns].length === 0)
    const next = await askHttp(gateway.url, 'zene', { text: 'hello', session: 'leaving', agent: 'helper' })
    expect(next.ok).toBe(true)
  })

  /** A prompt over HTTP whose client goes away once it has read the first words. */
  function leaveEarly(agent: string, session: string): Promise<string> {
    return new Promise((resolve) => {
      const call = request(`${gateway.url}/v1/zot/${agent}?session=${session}`, { method: 'POST' }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
          if (!text.includes('pid ')) return
          call.destroy()
          resolve(/pid (\d+)/.exec(text)![1]!)
        })
        response.on('error', () => {})
      })
      call.on('error', () => {})
      call.end(CLIENTS.zot.write({ text: 'wait', session, id: '1' }))
    })
  }

  test('of clients that chose the same id are not cancelled one for the other', async () => {
    const ask = (body: object): Promise<Record<string, unknown>> =>
      fetch(`${gateway.url}/v1/zene/patient`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }).then(
        (answer) => answer.json() as Promise<Record<string, unknown>>,
      )
    const running = ['mine', 'theirs'].map((session_id) => ask({ request_id: '1', session_id, prompt: 'wait' }))
    const said = (): number => gateway.engine.turns.filter(({ view }) => view.text !== '').length
    await until(() => said() === 2)
    const cancel = { type: 'cancel', request_id: 'c', target_request_id: '1' }
    expect(await ask(cancel)).toMatchObject({ ok: false, error_code: 'INVALID_REQUEST' })
    expect(said()).toBe(2)
    expect(await ask({ ...cancel, session_id: 'theirs' })).toMatchObject({ status: 'CANCEL_ACCEPTED' })
    expect(await running[1]).toMatchObject({ session_id: 'theirs', error_code: 'CANCELED' })
    expect(await ask(cancel)).toMatchObject({ status: 'CANCEL_ACCEPTED' })
    expect(await running[0]).toMatchObject({ session_id: 'mine', error_code: 'CANCELED' })
  })

  test('are cancelled by the agent’s own verb, and its process goes on', async () => {
    const pid = await leaveEarly('patient', 'polite')
    await until(() => [...gateway.engine.turns].length === 0)
    const next = await askHttp(gateway.url, 'zot', { text: 'quick', session: 'polite', agent: 'patient', id: '2' })
    expect(next).toMatchObject({ ok: true, text: `pid ${pid}` })
  })

  test('of an agent that does not heed it are ended with its process; the session goes on with another', async () => {
    const pid = await leaveEarly('deaf', 'rude')
    await until(() => [...gateway.engine.turns].length === 0)
    await until(() => !pidsOf('patient-zot.mjs\u0000deaf').includes(Number(pid)))
    const next = await askHttp(gateway.url, 'zot', { text: 'quick', session: 'rude', agent: 'deaf', id: '2' })
    expect(next.ok).toBe(true)
    expect(next.text).not.toBe(`pid ${pid}`)
  })

  test('find a process that was started ahead, which is replaced; a full pool gives up an idle session', async () => {
    const warm = () => pidsOf('patient-zot.mjs\u0000warm')
    await until(() => warm().length === 1)
    const [ahead] = warm()
    const ask = (session: string) => askHttp(gateway.url, 'zot', { text: 'quick', session, agent: 'warm', id: '1' })
    expect((await ask('first')).text).toBe(`pid ${ahead}`)
    await until(() => warm().length === 2)
    const next = warm().find((pid) => pid !== ahead)
    expect((await ask('second')).text).toBe(`pid ${next}`)
    expect((await ask('third')).ok).toBe(true)
    expect(warm().length).toBeLessThanOrEqual(3)
    await until(() => warm().length === 2)
  })

  test('keep the sessions of 40 parallel clients apart', async () => {
    const clients = Array.from({ length: 40 }, (_, index) => `client-${index}`)
    await Promise.all(
      clients.map(async (mark) => {
        for (const turn of [1, 2]) {
          const shown = await askHttp(gateway.url, 'zene', {
            text: mark,
            session: mark,
            agent: 'helper',
            id: `${turn}`,
          })
          expect(shown.text).toBe(`Turn ${turn} of this session. You said:\n> ${mark}`)
        }
      }),
    )
  })
})
