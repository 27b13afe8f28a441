import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ForwardedFate, Forwarder } from '../../src/cluster/forwarder.ts'
import { Passport } from '../../src/cluster/passport.ts'
import { patienceFor } from '../../src/cluster/under-way.ts'
import type { Replica } from '../../src/contract/index.ts'
import { startBlackHole } from '../kit/black-hole.ts'

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => void

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const passport = new Passport({ secrets: ['shared'], time: () => 1_000_000 })

/** The replica that a request is sent on to, and the one that sends it. */
let there: Server
let here: Server
let address: string
let answers: Handler
let forwarder: Forwarder
/** What became of the request that was sent on last. */
let fate: Promise<ForwardedFate | 'answered'>

const replica = (address: string): Replica =>
  ({ owner: 'o', epoch: 1, address, agents: {}, version: '0', expired: false, draining: false }) as Replica

beforeEach(async () => {
  there = createServer((incoming, outgoing) => answers(incoming, outgoing)).listen(0, '127.0.0.1')
  await once(there, 'listening')
  address = urlOf(there)
  forwarder = new Forwarder(passport, patienceFor(8000))
  here = createServer((incoming, outgoing) => forward(address, incoming, outgoing)).listen(0, '127.0.0.1')
  await once(here, 'listening')
})
afterEach(async () => {
  forwarder.close()
  for (const server of [here, there]) {
    server.closeAllConnections()
    server.close()
  }
})

function forward(to: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  fate = new Promise((resolve) => {
    const body = forwarder.forward(replica(to), {
      incoming,
      outgoing,
      caller: '{"tenant":"a"}',
      answered: () => resolve('answered'),
      failed(how) {
        resolve(how)
        outgoing.writeHead(500).end()
      },
    })
    incoming.setEncoding('utf8')
    incoming.on('data', (text: string) => body.push(text))
    incoming.on('end', () => body.end())
  })
}

interface Got {
  status: number
  headers: IncomingMessage['headersDistinct']
  trailers: IncomingMessage['trailers']
  text: string
}

/** Sends a request and reads its answer; rejects when that is cut. */
async function send(path = '/v1/turns', body = 'hello', headers: Record<string, string> = {}): Promise<Got> {
  const sent = request(`${urlOf(here)}${path}`, { method: 'PUT', headers, agent: false })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const text = await textOf(answer)
  return { status: answer.statusCode!, headers: answer.headersDistinct, trailers: answer.trailers, text }
}

describe('a request that is sent on', () => {
  test('has its method, path and body, the client that it is for, and none of the keys of that', async () => {
    const seen: unknown[] = []
    answers = (incoming, outgoing) => {
      const { authorization, cookie, 'x-api-key': key, 'x-own': own } = incoming.headers
      const caller = passport.check(incoming.headers as Record<string, string>, incoming.method!, incoming.url!)
      seen.push(incoming.method, incoming.url, caller, [authorization, cookie, key, own])
      void textOf(incoming).then((body) => outgoing.end(`got ${body}`))
    }
    const headers = { authorization: 'Bearer k', cookie: 'c=1', 'x-api-key': 'k', 'x-own': 'kept' }
    const { status, text } = await send('/v1/turns?a=b%20c', 'héllo', headers)
    expect([status, text]).toEqual([200, 'got héllo'])
    expect(seen).toEqual(['PUT', '/v1/turns?a=b%20c', '{"tenant":"a"}', [undefined, undefined, undefined, 'kept']])
    expect(await fate).toBe('answered')
  })

  test('goes below the path of an address', async () => {
    answers = ({ url }, outgoing) => outgoing.end(url)
    here.removeAllListeners('request')
    here.on('request', (incoming, outgoing) => forward(`${address}/base/`, incoming, outgoing))
    expect((await send('/v1/x')).text).toBe('/base/v1/x')
  })

  test('has the status, headers and trailers of its answer, also of several of one name', async () => {
    answers = (_, outgoing) => {
      outgoing.writeHead(418, { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'], trailer: 'turnpike-loss' })
      outgoing.write('part ')
      outgoing.addTrailers({ 'turnpike-loss': 'dropped=1' })
      outgoing.end('and rest')
    }
    const { status, headers, trailers, text } = await send()
    expect([status, text, trailers]).toEqual([418, 'part and rest', { 'turnpike-loss': 'dropped=1' }])
    expect([headers['x-one'], headers['set-cookie']]).toEqual([['1'], ['a=1', 'b=2']])
  })

  test('is answered as it comes', async () => {
    let more = (): void => {}
    answers = (_, outgoing) => {
      outgoing.write('first')
      more = () => outgoing.end(' last')
    }
    const sent = request(`${urlOf(here)}/`, { agent: false }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const [piece] = await once(answer.setEncoding('utf8'), 'data')
    expect(piece).toBe('first')
    more()
    expect(await textOf(answer)).toBe(' last')
  })

  test.each<[string, Handler, ForwardedFate | 'answered', number]>([
    [
      'does not have its session',
      (_, out) => out.writeHead(421, { 'turnpike-misdirected': '1' }).end(),
      'misdirected',
      500,
    ],
    ['says 421 itself', (_, out) => out.writeHead(421).end(), 'answered', 421],
    ['breaks before it answers', ({ socket }) => socket.destroy(), 'broken', 500],
  ])('knows of a replica that %s', async (_how, handler, wanted, status) => {
    answers = handler
    expect((await send()).status).toBe(status)
    expect(await fate).toBe(wanted)
  })

  test('knows of a replica that is not there', async () => {
    there.closeAllConnections()
    there.close()
    expect((await send()).status).toBe(500)
    expect(await fate).toBe('unreached')
  })

  test('is cut where its answer is cut', async () => {
    answers = (incoming, outgoing) => {
      outgoing.write('half')
      setImmediate(() => incoming.socket.destroy())
    }
    await expect(send()).rejects.toThrow()
    expect(await fate).toBe('answered')
  })

  test('ends when its client leaves, and nothing is under way then', async () => {
    const ended = new Promise<void>((resolve) => {
      answers = (incoming, outgoing) => {
        outgoing.write('waiting')
        incoming.socket.once('close', resolve)
      }
    })
    const sent = request(`${urlOf(here)}/`, { agent: false }).end()
    sent.on('error', () => {})
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.on('error', () => {})
    answer.destroy()
    await ended
    await forwarder.untilIdle(60_000)
  })

  test.each([
    ['GET', true],
    ['POST', false],
  ])('is not waited for when it only looks: %s', async (method, isIdle) => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<ServerResponse>()
    answers = (_incoming, outgoing) => arrive(outgoing)
    const sent = request(`${urlOf(here)}/`, { method, agent: false }).end()
    const outgoing = await arrived
    let idle = false
    const all = forwarder.untilIdle(60_000).then(() => {
      idle = true
    })
    await new Promise(setImmediate)
    expect(idle).toBe(isIdle)
    outgoing.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    await all
  })

  test('has not begun at a replica whose connections are taken by nobody', async () => {
    const hole = await startBlackHole()
    forwarder.close()
    forwarder = new Forwarder(passport, { ...patienceFor(8000), connectMs: 50 })
    here.removeAllListeners('request')
    here.on('request', (incoming, outgoing) => forward(hole.address, incoming, outgoing))
    expect((await send()).status).toBe(500)
    expect(await fate).toBe('unreached')
    hole.close()
  })

  test('may have begun at a replica that answers nothing any more', async () => {
    forwarder.close()
    forwarder = new Forwarder(passport, { connectMs: 2000, answerMs: 20, everyMs: 10, times: 3 })
    const asked: (string | undefined)[] = []
    answers = ({ url }) => void asked.push(url)
    expect((await send()).status).toBe(500)
    expect(await fate).toBe('broken')
    expect(asked.slice(0, 4)).toEqual(['/v1/turns', ...Array.from({ length: 3 }, () => '/v1/cluster/replicas/o')])
  })

  test('goes on at a replica that is silent about it and answers else', async () => {
    forwarder.close()
    forwarder = new Forwarder(passport, { connectMs: 2000, answerMs: 2000, everyMs: 5, times: 1 })
    let asked = 0
    let turn: ServerResponse | undefined
    answers = ({ url }, outgoing) => {
      if (url === '/v1/turns') turn = outgoing
      else if (++asked < 10) outgoing.writeHead(421).end()
      else turn!.end('done')
    }
    expect((await send()).text).toBe('done')
  })

  test('is given up when its replica is given up', async () => {
    answers = () => forwarder.gone({ address })
    expect((await send()).status).toBe(500)
    expect(await fate).toBe('broken')
  })
})

test('a replica asks another one for itself', async () => {
  const callers: unknown[] = []
  answers = ({ headers, method, url }, outgoing) => {
    callers.push(passport.check(headers as Record<string, string>, method!, url!))
    outgoing.writeHead(204).end()
  }
  expect(await forwarder.ask(replica(address), '/v1/cluster/give')).toBe(204)
  expect(callers).toEqual([''])
  there.closeAllConnections()
  there.close()
  expect(await forwarder.ask(replica(address), '/v1/cluster/give')).toBe(0)
})
