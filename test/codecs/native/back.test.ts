import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec, eventJson } from '../../../codecs/native/index.ts'
import type { AgentEvent, Command } from '../../../src/model/index.ts'
import { type BackDrive, driveBack, plainTurn } from '../../kit/drive.ts'
import { event, json } from './arbitrary.ts'
import { linesOf, readyBack, runningBack } from './kit.ts'

const CANCEL: Command = { exchange: 'x9', type: 'turn-cancel', target: { turn: 't1' } }
const VIOLATION = { code: 'protocol-violation', retryable: false }

function endsOf({ events }: BackDrive): AgentEvent[] {
  return events.filter(({ type }) => type === 'turn-end')
}

describe('an agent', () => {
  test('is a process whose first line says that it is ready; only then is it told anything', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    expect(drive.calls).toEqual([{ kind: 'process', stdin: 'open' }])
    drive.start('hi', { ext: { protocol: 'native', json: '{"new":1.0}' } })
    expect(drive.sent).toEqual([])
    drive.feed('{"type":"agent-ready","model":"m"}')
    expect(drive.events).toEqual([{ turn: null, type: 'agent-ready', model: 'm' }])
    expect(drive.sent).toEqual([
      '{"type":"turn-start","exchange":"x1","turn":"t1","task":"prompt","input":[{"type":"text","text":"hi"}],' +
        '"options":{},"session":{"id":"s1"},"new":1.0}',
    ])
  })

  test.each(['hello', '{"type":"text-delta","turn":"t1","message":"m","text":"x"}', '{"type":"turn-started"}', '{}'])(
    'that begins with something else is of no use: %s',
    (line) => {
      const drive = driveBack(codec)
      drive.link.open!()
      drive.start('hi')
      drive.feed(line, '{"type":"agent-ready"}')
      expect(drive.faults).toMatchObject([VIOLATION])
      expect(drive.events).toEqual([])
      drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
      expect(drive.events).toMatchObject([{ type: 'turn-end', turn: 't1', outcome: 'failed', fault: VIOLATION }])
    },
  )

  test('is told every command, with our ids', () => {
    const drive = runningBack()
    drive.link.encode(CANCEL)
    drive.link.encode({
      exchange: 'x1',
      type: 'ask-reply',
      target: { turn: 't1' },
      ask: 'a',
      reply: { kind: 'input', values: '{"n":1.0}' },
    })
    drive.link.encode({ exchange: 'x2', type: 'query', what: 'state', session: { id: 's1', bound: 'own' } })
    expect(drive.sent).toEqual([
      '{"type":"turn-cancel","exchange":"x9","target":{"turn":"t1"}}',
      '{"type":"ask-reply","exchange":"x1","target":{"turn":"t1"},"ask":"a","reply":{"kind":"input","values":{"n":1.0}}}',
      '{"type":"query","exchange":"x2","what":"state","session":{"id":"s1","bound":"own"}}',
    ])
  })

  test('is not told a client’s word of what it calls the session', () => {
    const drive = readyBack()
    drive.start('hi', { ext: { protocol: 'native', json: '{"session":{"bound":"other","x":1},"more":1}' } })
    expect(linesOf(drive)).toMatchObject([{ session: { id: 's1' }, more: 1 }])
    expect(String(drive.sent[0])).not.toContain('bound')
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'ext', field: 'session', why: 'policy', count: 1 }])
  })

  test('tells its messages as the model has them', () => {
    const drive = readyBack()
    const query = { type: 'query', what: 'messages' } as const
    drive.link.encode({ exchange: 'x2', ...query })
    drive.link.encode({ exchange: 'x3', ...query })
    const told = '{"messages":[{"role":"assistant","parts":[{"type":"tool-call","args":{"n":1e400}}]}]}'
    const data = told.replace('{"n":1e400}', '"{\\"n\\":1e400}"')
    const refusal = { code: 'internal', message: 'No.', retryable: false }
    drive.feed(
      `{"type":"command-reply","exchange":"x2","data":${told}}`,
      `{"type":"command-reply","exchange":"x2","data":${told}}`,
      `{"type":"command-reply","exchange":"x3","fault":${JSON.stringify(refusal)}}`,
    )
    expect(drive.events).toEqual([
      { turn: null, type: 'command-reply', exchange: 'x2', data },
      { turn: null, type: 'command-reply', exchange: 'x2', data: told },
      { turn: null, type: 'command-reply', exchange: 'x3', fault: refusal },
    ])
  })

  test('says a turn as the model has it', () => {
    const drive = runningBack()
    const said = plainTurn('yes')
    drive.feed(...said.map((one, at) => eventJson(one, at)))
    // That it took the turn is for its own gateway.
    expect(drive.events).toEqual(said.slice(1))
    expect(drive.losses).toEqual([])
    drive.start('again', { turn: 't2' })
    drive.feed('{"type":"turn-end","turn":"t2","outcome":"completed"}')
    expect(drive.events.at(-1)).toEqual({ turn: 't2', type: 'turn-end', outcome: 'completed' })
  })

  test('says everything through', () => {
    fc.assert(
      fc.property(event, (said) => {
        // Ends that contradict themselves are not said through.
        fc.pre(said.type !== 'turn-end' || said.outcome === 'cancelled' || (said.outcome === 'failed') === !!said.fault)
        const drive = runningBack()
        const heard = { ...said, turn: said.turn === null ? null : 't1' } as AgentEvent
        drive.feed(eventJson(heard))
        if (said.type === 'turn-accepted') expect(drive.events).toEqual([])
        else if (said.type === 'turn-parked') expect(drive.events).toMatchObject([{ type: 'turn-end' }])
        else expect(drive.events).toEqual([heard])
      }),
      { numRuns: 500 },
    )
  })

  test('tells the losses behind it', () => {
    const drive = runningBack()
    const lost = { kind: 'dropped', item: 'plan', why: 'no-place', count: 2 } as const
    drive.feed(`{"type":"turn-end","turn":"t1","outcome":"completed","losses":[${JSON.stringify(lost)}]}`)
    expect(drive.losses).toEqual([lost])
    expect(drive.events).toEqual([{ turn: 't1', type: 'turn-end', outcome: 'completed' }])
  })

  test('has a reason for every failure, and no success with one', () => {
    const failure = { code: 'provider-down', message: 'It is down.', retryable: true } as const
    const unsaid = {
      code: 'internal',
      message: 'The agent failed and did not say why; see its own log.',
      retryable: false,
    }
    const ended = (end: object): unknown => {
      const drive = runningBack()
      drive.feed(JSON.stringify({ type: 'turn-end', turn: 't1', ...end }))
      return drive.events.at(-1)
    }
    expect(ended({ outcome: 'failed' })).toEqual({ turn: 't1', type: 'turn-end', outcome: 'failed', fault: unsaid })
    const failed = { turn: 't1', type: 'turn-end', outcome: 'failed', fault: failure }
    expect(ended({ outcome: 'failed', fault: failure })).toEqual(failed)
    expect(ended({ outcome: 'completed', fault: failure })).toEqual(failed)
  })

  test('cannot park a turn', () => {
    const drive = runningBack()
    drive.feed('{"type":"turn-parked","turn":"t1","asks":[],"continuation":"c","deadline":1}')
    expect(drive.events).toMatchObject([{ type: 'turn-end', outcome: 'failed', fault: VIOLATION }])
  })

  test('that speaks of another turn is not understood', () => {
    const drive = runningBack()
    drive.feed('{"type":"turn-started","turn":"t0"}')
    expect(drive.events).toEqual([])
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'turn-started', why: 'unknown', count: 1 }])
    const idle = readyBack()
    idle.feed('{"type":"turn-started","turn":"t0"}', 'junk')
    expect([idle.events, idle.losses]).toEqual([[], []])
  })

  test('may say what is not known, and what is wrong', () => {
    const drive = runningBack()
    const weather = '{"type":"weather","turn":"t1"}'
    const tide = '{"type":"tide","turn":"t0"}'
    drive.feed(weather, tide, 'junk', '{"type":"usage","turn":"t1","scope":"turn","usage":7}')
    expect(drive.events).toEqual([
      { turn: 't1', type: 'foreign', protocol: 'native', frame: weather },
      { turn: null, type: 'foreign', protocol: 'native', frame: tide },
    ])
    expect(drive.losses.map(({ kind, item }) => [kind, item])).toEqual([
      ['unparsed', 'foreign'],
      ['unparsed', 'usage'],
    ])
  })

  test('ends its turn also with an end that cannot be read', () => {
    const drive = runningBack()
    drive.feed('{"type":"turn-end","turn":"t0","outcome":7}', '{"type":"turn-end","turn":"t1","outcome":"good"}')
    const message =
      'The agent ended the turn in a way that cannot be read: outcome must be one of: completed, failed, cancelled.'
    expect(drive.events).toEqual([
      { turn: 't1', type: 'turn-end', outcome: 'failed', fault: { ...VIOLATION, message } },
    ])
    expect(drive.losses).toHaveLength(1)
  })
})

describe('a fault of the agent', () => {
  const found = { code: 'overloaded', message: 'Full.', retryable: true }

  test('about the turn ends it', () => {
    const drive = runningBack()
    drive.feed(`{"type":"fault","fault":${JSON.stringify(found)},"exchange":"x1"}`)
    expect(drive.events).toEqual([{ turn: 't1', type: 'turn-end', outcome: 'failed', fault: found }])
  })

  test('about another command answers that', () => {
    const drive = runningBack()
    drive.feed(`{"type":"fault","fault":${JSON.stringify(found)},"exchange":"x7"}`)
    expect(drive.events).toEqual([{ turn: null, type: 'command-reply', exchange: 'x7', fault: found }])
  })

  test('about nothing is a notice', () => {
    const line = `{"type":"fault","fault":${JSON.stringify(found)}}`
    const notice = { type: 'notice', severity: 'error', code: 'overloaded', text: 'Full.' }
    const [running, idle] = [runningBack(), readyBack()]
    running.feed(line)
    idle.feed(line)
    expect(running.events).toEqual([{ turn: 't1', ...notice }])
    expect(idle.events).toEqual([{ turn: null, ...notice }])
  })

  test('that says that nothing more can be read is the end of the wire', () => {
    const drive = runningBack()
    drive.feed('{"type":"fault","fault":{"code":"internal","message":"Gone.","fatal":true}}', '{"type":"turn-started"}')
    expect(drive.faults).toEqual([{ code: 'internal', message: 'Gone.', retryable: false }])
    drive.start('again', { turn: 't2' })
    expect(drive.events).toMatchObject([{ turn: 't2', type: 'turn-end', fault: { message: 'Gone.' } }])
  })
})

describe('a cancel', () => {
  test('of a turn that was not sent yet is done by us', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.link.encode({ exchange: 'x0', type: 'query', what: 'models' })
    drive.start('hi')
    drive.link.encode(CANCEL)
    expect(drive.events).toMatchObject([{ turn: 't1', type: 'turn-end', outcome: 'cancelled' }])
    drive.feed('{"type":"agent-ready"}')
    expect(linesOf(drive)).toMatchObject([{ type: 'query' }])
  })

  test('of one that runs is told to the agent, whose word is the end', () => {
    const drive = runningBack()
    drive.link.encode(CANCEL)
    drive.feed('{"type":"command-reply","exchange":"x9"}', '{"type":"turn-end","turn":"t1","outcome":"cancelled"}')
    expect(drive.events).toEqual([
      { turn: null, type: 'command-reply', exchange: 'x9' },
      { turn: 't1', type: 'turn-end', outcome: 'cancelled' },
    ])
  })
})

describe('the end of the process', () => {
  test.each([
    [{ why: 'closed', exitCode: 3 } as const, 'failed', 'agent-crashed'],
    [{ why: 'cancelled' } as const, 'cancelled', 'cancelled'],
    [{ why: 'timeout' } as const, 'failed', 'timeout'],
  ])('%j', (end, outcome, code) => {
    const drive = runningBack()
    drive.link.decodeEnd(end)
    expect(drive.events).toMatchObject([{ type: 'turn-end', turn: 't1', outcome, fault: { code } }])
    drive.feed('{"type":"turn-end","turn":"t1","outcome":"completed"}')
    drive.link.encode(CANCEL)
    expect(endsOf(drive)).toHaveLength(1)
  })

  test('after anything at all leaves exactly one end', () => {
    const line = fc.oneof(
      fc.string(),
      json,
      event.map((said) => eventJson({ ...said, turn: said.turn === null ? null : 't1' } as AgentEvent)),
    )
    fc.assert(
      fc.property(fc.array(line), (said) => {
        const drive = runningBack()
        drive.feed(...said)
        drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
        expect(endsOf(drive)).toHaveLength(drive.faults.length === 0 ? 1 : endsOf(drive).length)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a recording', () => {
  const started = (recorded: 'agent' | 'both'): BackDrive => {
    const drive = driveBack(codec, { recorded })
    drive.start('hi')
    return drive
  }

  test('of a turn that is known to be another one is not ours', () => {
    const drive = driveBack(codec, { recorded: 'both', turns: new Set(['t1', 'other']) })
    drive.start('hi')
    const said = (turn: string): string => `{"type":"text-delta","turn":"${turn}","message":"m","text":"${turn}"}`
    drive.feed(said('other'), said('t1'), said('named'))
    expect(drive.events.map((event) => event.type === 'text-delta' && event.text)).toEqual(['t1', 'named'])
  })

  test('of a turn has its client’s ids; it is ours all the same', () => {
    const drive = started('agent')
    expect(linesOf(drive)).toMatchObject([{ type: 'turn-start' }])
    drive.feed(
      '{"type":"agent-ready"}',
      '{"type":"text-delta","turn":"theirs","message":"m","text":"x"}',
      '{"type":"weather","turn":"theirs"}',
      '{"type":"turn-end","turn":"theirs","outcome":"completed"}',
    )
    expect(drive.events).toEqual([
      { turn: null, type: 'agent-ready' },
      { turn: 't1', type: 'text-delta', message: 'm', text: 'x' },
      { turn: 't1', type: 'foreign', protocol: 'native', frame: '{"type":"weather","turn":"theirs"}' },
      { turn: 't1', type: 'turn-end', outcome: 'completed' },
    ])
  })

  test('of answers without their commands is foreign; with them they are taken in order', () => {
    const reply = '{"type":"command-reply","exchange":"theirs","data":1}'
    const alone = started('agent')
    alone.feed(reply)
    expect(alone.events).toEqual([{ turn: null, type: 'foreign', protocol: 'native', frame: reply }])
    const both = started('both')
    both.link.encode({ exchange: 'x2', type: 'query', what: 'state' })
    both.feed(reply)
    expect(both.events).toEqual([{ turn: null, type: 'command-reply', exchange: 'x2', data: '1' }])
  })

  test('of both sides says when its client was told that the turn was taken', () => {
    const accepted = '{"type":"turn-accepted","turn":"theirs","seq":1,"how":"new","session":"s9"}'
    const both = started('both')
    both.feed(accepted)
    expect(both.events).toEqual([{ turn: 't1', type: 'turn-accepted', how: 'new', session: 's9' }])
    const alone = started('agent')
    alone.feed(accepted)
    expect(alone.events).toEqual([])
  })

  test('of a refused turn is its end', () => {
    const drive = started('both')
    drive.feed('{"type":"fault","exchange":"theirs","fault":{"code":"forbidden","message":"No."}}')
    expect(drive.events).toMatchObject([{ turn: 't1', type: 'turn-end', outcome: 'failed' }])
  })
})
