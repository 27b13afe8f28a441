import { describe, expect, test, vi } from 'vitest'
import {
  type BackDialect,
  type BackLink,
  type BackPorts,
  type CallEnd,
  frameText,
  type WireText,
} from '../../src/contract/index.ts'
import { AgentWire } from '../../src/engine/agent/agent-wire.ts'
import { LINGER_MS } from '../../src/engine/agent/live-call.ts'
import { SILENT_SCOPE } from '../../src/engine/agent/silent-scope.ts'
import { Tape } from '../../src/engine/common/index.ts'
import { fault, type LinkEvent, type Loss, TextRun } from '../../src/model/index.ts'
import { plainAgent, plainBack } from '../kit/plain.ts'
import { ScriptedBackend } from '../kit/scripted-backend.ts'

/** A wire that notes what it hears. */
class NotingWire extends AgentWire {
  readonly said: unknown[] = []

  open(): this {
    this.host.open()
    return this
  }

  keep(tape: Tape): void {
    this.calls.tape = tape
  }

  link(event: LinkEvent): void {
    this.said.push(event.type)
  }

  loss({ item }: Loss): void {
    this.said.push(`lost ${item}`)
  }

  failed({ why, exitCode, fault: found }: CallEnd): void {
    this.said.push(`failed: ${found?.code ?? exitCode ?? why}`)
  }

  idle(): void {
    this.said.push('idle')
  }

  protected streamed(what: string): void {
    this.said.push(`streamed ${what}`)
  }

  protected died(): void {
    this.said.push('died')
  }
}

/** The wire of a process that lives over turns; `decode` is what its codec does with a frame. */
function wired(decode?: (ports: BackPorts, text: string) => void, decodeTexts?: BackLink['decodeTexts']) {
  const plain = plainBack({ persistent: true })
  const dialect: BackDialect = {
    ...plain,
    back: {
      ...plain.back,
      open: (context, ports) => {
        const link = plain.back.open(context, ports)
        const restart = (end: CallEnd): void => {
          if (end.exitCode === 9) ports.open({ kind: 'process', stdin: 'open' })
        }
        return {
          ...link,
          decode: (frame) => (decode ? decode(ports, frameText(frame)) : link.decode(frame)),
          decodeEnd: restart,
          ...(decodeTexts && { decodeTexts }),
        }
      },
    },
  }
  const backend = new ScriptedBackend()
  const wire = new NotingWire(plainAgent('', { backend, dialect }), SILENT_SCOPE).open()
  return { wire, backend }
}

describe('the wire of a process that lives over turns', () => {
  test('is dead when its process exits, and says why a turn has no end', () => {
    const { wire, backend } = wired()
    expect([wire.persistent, wire.ready, wire.dead, wire.process?.pid]).toEqual([true, false, false, 7])
    backend.call.end({ why: 'closed', exitCode: 3 })
    expect([wire.dead, wire.process, wire.said]).toEqual([true, undefined, ['failed: 3', 'died']])
    expect(wire.missingEnd.message).toContain('exited with code 3')
  })

  test('is dead from the end of its output on, and an idle process is stopped when it does not exit', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { wire, backend } = wired()
    backend.call.closeOutput()
    expect([wire.dead, backend.call.stops]).toEqual([true, []])
    vi.advanceTimersByTime(LINGER_MS)
    expect(backend.call.stops).toEqual(['closed'])
    vi.useRealTimers()
  })

  test('lives on when its codec starts another process in place of one', async () => {
    const { wire, backend } = wired()
    const [first] = backend.calls
    first!.closeOutput()
    first!.end({ why: 'closed', exitCode: 9 })
    expect([backend.calls.length, wire.dead, wire.process?.pid]).toEqual([2, false, 7])
    wire.send({ type: 'query', what: 'state', exchange: 'x' })
    expect(backend.call.written).toHaveLength(1)
    // The end of the output of one that was left says nothing.
    first!.closeOutput()
    expect(wire.dead).toBe(false)
  })

  test('stays dead when it was stopped, whatever its codec starts', async () => {
    const { wire, backend } = wired()
    backend.call.stubborn = true
    void wire.stop('closed', 50)
    backend.call.end({ why: 'closed', exitCode: 9 })
    expect([backend.calls.length, wire.dead]).toEqual([2, true])
    await wire.stop('closed', 50)
    expect(wire.process).toBeUndefined()
  })

  test('that is broken is stopped, and read no further', () => {
    const { wire, backend } = wired((ports, text) => {
      if (text === 'break') ports.broken(fault('protocol-violation', 'odd'))
      else ports.emit({ turn: null, type: 'agent-ready' })
    })
    backend.call.stubborn = true
    backend.call.say('ready\nbreak\nready\n')
    backend.call.say('ready\n')
    expect([wire.ready, wire.dead, backend.call.stops]).toEqual([true, true, ['closed']])
    expect(wire.said).toEqual(['agent-ready', 'died', 'failed: protocol-violation', 'died'])
    backend.call.end({ why: 'closed', exitCode: 143 })
    expect(wire.said).toHaveLength(4)
  })

  test('is read no further while it is paused', () => {
    const { wire, backend } = wired()
    wire.pause(true)
    expect(backend.call.paused).toBe(true)
    wire.pause(false)
    expect(backend.call.paused).toBe(false)
  })
})

test('an answer that is a stream of events says that it began, and its frames', () => {
  const { wire, backend } = wired(() => {})
  backend.call.head('text/event-stream')
  backend.call.say('data: 1\n\n')
  backend.call.head('application/json')
  expect(wire.said).toEqual(['streamed head', 'streamed frame'])
})

test('a stream of events may have pieces of text that are read together, but not where its frames are kept', () => {
  const frames: string[] = []
  const read = (wire: WireText): TextRun => {
    wire.at = wire.text.length
    return new TextRun({ type: 'text-delta', turn: 't', message: 'm', text: wire.text })
  }
  const { wire, backend } = wired((_ports, text) => void frames.push(text), read)
  const stream = 'data: 1\n\ndata: 2\n\n'
  backend.call.say('1\n2\n')
  backend.call.head('text/event-stream')
  backend.call.say(stream)
  expect(frames).toEqual(['1', '1'])
  expect(wire.said).toEqual(['streamed head', 'streamed frame', 'streamed frame'])
  wire.keep(
    new Tape(
      () => 0,
      (text) => text,
    ),
  )
  backend.call.say(stream)
  expect(frames).toEqual(['1', '1', '1', '2'])
})
