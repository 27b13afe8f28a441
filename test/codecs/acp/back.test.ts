import { describe, expect, test } from 'vitest'
import { answer, running, sent, textLine } from './kit.ts'

describe('a plain turn', () => {
  test('handshake, session, prompt, answer', () => {
    const drive = running({ process: { command: 'a', env: {}, cwd: '/work' } })
    drive.feed(textLine('One '), textLine('two.'))
    answer(drive, 'session/prompt', { stopReason: 'end_turn' })
    expect(drive.calls).toEqual([{ kind: 'process', stdin: 'open' }])
    expect(sent(drive)).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: 1,
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
          clientInfo: { name: 'turnpike', title: 'Turnpike', version: '0.0.0' },
        },
      },
      { jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: '/work', mcpServers: [] } },
      {
        jsonrpc: '2.0',
        id: 3,
        method: 'session/prompt',
        params: { sessionId: 'S', prompt: [{ type: 'text', text: 'Hi' }] },
      },
    ])
    expect(drive.events).toEqual([
      { turn: null, type: 'agent-ready', json: '{"protocolVersion":1}' },
      { turn: 't1', type: 'turn-started' },
      { turn: 't1', type: 'message-start', message: 'b1', role: 'assistant' },
      { turn: 't1', type: 'text-delta', message: 'b1', text: 'One ' },
      { turn: 't1', type: 'text-delta', message: 'b1', text: 'two.' },
      { turn: 't1', type: 'message-end', message: 'b1' },
      { turn: 't1', type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
    expect(drive.losses).toEqual([])
  })

  test('the second turn has the same session', () => {
    const drive = running()
    answer(drive, 'session/prompt', { stopReason: 'end_turn' })
    drive.start('More', { turn: 't2' })
    expect(sent(drive).map(({ method }) => method)).toEqual([
      'initialize',
      'session/new',
      'session/prompt',
      'session/prompt',
    ])
  })
})
