import { describe, expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { RecordedAgent } from '../../src/engine/replay/recorded-agent.ts'
import { ITEMS } from '../../src/model/index.ts'
import { ALL, type PlainBack, plainBack, start } from '../kit/plain.ts'

/** An agent whose frames are given, and what it says. */
function recorded(back: PlainBack = {}) {
  const said: unknown[] = []
  const agent = new RecordedAgent(
    plainBack(back),
    { options: {}, agent: 'a', env: {}, folder: '/' },
    {
      event: (event) => said.push(event.type === 'turn-end' ? event.outcome : event.type),
      link: (event) => said.push(event.type),
      loss: ({ item }, direction) => said.push(`lost ${item} of the ${direction}`),
      fault: ({ code }) => said.push(code),
    },
    {
      open: ({ kind }) => void said.push(`call ${kind}`),
      send: (frame) => void said.push(`sent ${JSON.parse(String(frame)).type}`),
    },
  )
  const say = (event: object): void => agent.decode(JSON.stringify({ turn: 't', ...event }))
  return { agent, said, say }
}

describe('an agent whose frames are given', () => {
  test('starts its call, is told its turn, and says what it means', () => {
    const { agent, said, say } = recorded()
    agent.open()
    agent.start(start())
    expect([agent.running, agent.persistent, agent.broken]).toEqual(['t', false, false])
    say({ type: 'text-delta', message: 'm', text: 'hi' })
    say({ type: 'turn-end', outcome: 'completed' })
    expect(said).toEqual(['call process', 'sent turn-start', 'message-start', 'text-delta', 'message-end', 'completed'])
    expect(agent.running).toBeUndefined()
  })

  test('fails the turn that its call leaves open', () => {
    const { agent, said } = recorded()
    agent.start(start())
    agent.end({ why: 'closed', exitCode: 1 })
    expect(said.slice(2)).toEqual(['failed'])
    agent.end({ why: 'closed', exitCode: 1 })
    expect(said.slice(2)).toEqual(['failed'])
  })

  test('says what belongs to no turn, and takes other commands, without those that its protocol does not have', () => {
    const able = capabilities({ full: ITEMS.filter((item) => item !== 'query.models') })
    const { agent, said, say } = recorded({ persistent: true, able })
    agent.open()
    say({ turn: null, type: 'agent-ready' })
    agent.send({ type: 'query', what: 'models', exchange: 'x' })
    agent.send({ type: 'query', what: 'state', exchange: 'x' })
    expect(said).toEqual(['call process', 'agent-ready', 'lost query.models of the request', 'sent query'])
  })

  test('is cancelled when it fails after a cancel', () => {
    const { agent, said, say } = recorded({ able: ALL })
    agent.start(start())
    agent.send({ type: 'turn-cancel', exchange: 'x', target: 'running' })
    say({ type: 'turn-end', outcome: 'failed' })
    expect(said.slice(2)).toEqual(['sent turn-cancel', 'cancelled'])
  })

  test('has a turn that is ended from outside ended once, and takes the next', () => {
    const { agent, said, say } = recorded({ persistent: true })
    agent.abort({ outcome: 'completed' })
    agent.start(start())
    agent.abort({ outcome: 'completed' })
    agent.abort({ outcome: 'completed' })
    expect([said, agent.running]).toEqual([['sent turn-start', 'completed'], undefined])
    agent.start(start({ turn: 'u' }))
    say({ type: 'turn-end', outcome: 'failed' })
    say({ turn: 'u', type: 'turn-end', outcome: 'completed' })
    expect(said.slice(2)).toEqual(['sent turn-start', 'completed'])
  })

  test('is broken by a codec that throws', () => {
    const { agent, said } = recorded()
    agent.start(start())
    agent.decode('not json')
    expect([said.slice(2), agent.broken]).toEqual([['internal', 'failed'], true])
  })
})
