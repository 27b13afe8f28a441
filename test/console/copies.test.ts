import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asCommand, asSample, asTranslateInput, quoted, translateCommand } from '../../console/logic/copies.ts'
import { masked, redactedFrame } from '../../console/logic/redact.ts'
import type { TurnDetail, Wire } from '../../console/logic/types.ts'

const WIRE: Wire = {
  kept: true,
  clientProtocol: 'zene',
  agentProtocol: 'zot',
  client: [
    { dir: 'in', text: 'POST /v1/zene' },
    { dir: 'in', text: `{"prompt":"it's me"}` },
    { dir: 'out', seq: 4, text: '{"ok":true}' },
  ],
  agent: [
    { dir: 'out', text: '{"type":"prompt","message":"it\'s me"}' },
    { dir: 'in', seq: 3, text: '{"type":"text_delta","delta":"Grüße, Ann"}' },
    { dir: 'in', seq: 4, text: '{"type":"done"}' },
  ],
}

describe('the request as a command', () => {
  const place = {
    origin: 'http://localhost:8484',
    agent: 'coder',
    program: 'npx turnpike as zene --config /t.yaml',
    keys: false,
  }

  test('is curl for an endpoint', () => {
    const curl = `curl -sN http://localhost:8484/v1/zene -H 'content-type: application/json' -H 'turnpike-agent: coder' --data-binary '{"prompt":"it'\\''s me"}'`
    expect(asCommand(WIRE, place)).toBe(curl)
    const again: Wire = { ...WIRE, kept: false, client: WIRE.client.slice(1) }
    expect(asCommand(again, { ...place, path: '/v1/zene' })).toBe(curl)
  })

  test('names the variable of the key, never a key, and sends lines as lines', () => {
    const lines: Wire = { ...WIRE, client: [...WIRE.client, { dir: 'in', text: '{"type":"abort"}' }] }
    const command = asCommand(lines, { ...place, keys: true })
    expect(command).toContain('-H "authorization: Bearer $TURNPIKE_KEY" -H \'content-type: application/x-ndjson\'')
    expect(command).toContain('\n{"type":"abort"}')
  })

  test('is the program for a client on stdio', () => {
    const program = `printf '%s\\n' '{"prompt":"it'\\''s me"}' | npx turnpike as zene --config /t.yaml --agent coder`
    const kept: Wire = { ...WIRE, client: [{ dir: 'in', text: '["zene","host"]' }, ...WIRE.client.slice(1)] }
    expect(asCommand(kept, { ...place, path: '/v1/zene' })).toBe(program)
    const again: Wire = { ...WIRE, kept: false, clientProtocol: 'zene@v1', client: WIRE.client.slice(1) }
    expect(asCommand(again, place)).toBe(program)
  })

  test('any text is one word of a shell', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 20 })
      .filter((value) => value.isWellFormed() && !value.includes('\0'))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
        const script = `printf '%s\\0' ${texts.map(quoted).join(' ')}`
        expect(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' })).toBe(
          texts.map((one) => `${one}\0`).join(''),
        )
      }),
      { numRuns: 25 },
    )
  })
})

test('what the agent said is the input of translate', () => {
  expect(asTranslateInput(WIRE)).toBe('{"type":"text_delta","delta":"Grüße, Ann"}\n{"type":"done"}\n')
  expect(translateCommand(WIRE, './turnpike')).toBe('./turnpike translate --from zot --to native agent.wire')
})

describe('a sample', () => {
  const turn = {
    state: 'failed',
    code: 'timeout',
    losses: [{ kind: 'dropped', item: 'plan', why: 'no-place', count: 1 }],
  }

  test('has the shape of both wires, and nothing of what was said', () => {
    expect(asSample(turn as unknown as TurnDetail, WIRE, '1.2.3')).toBe(
      [
        '# turnpike 1.2.3: zene -> zot, failed, timeout',
        '# wire: as it was; letters and digits of private texts are replaced',
        '# times: {}',
        '# lost: plan did not arrive: the other protocol has no place for it',
        '# client',
        '< - POST /v1/zene',
        `< - {"prompt":"xx'x xx"}`,
        '> 4 {"ok":true}',
        '# agent',
        `> - {"type":"prompt","message":"xx'x xx"}`,
        '< 3 {"type":"text_delta","delta":"xxxxx, xxx"}',
        '< 4 {"type":"done"}',
        '',
      ].join('\n'),
    )
  })

  test.each([
    ['{"type":"user","text":"user"}', '{"type":"user","text":"xxxx"}'],
    ['{"jsonrpc":"2.0","id":12,"method":"session/prompt"}', '{"jsonrpc":"2.0","id":0,"method":"session/prompt"}'],
    [
      '{"error":{"code":"sk-live-abcdefghijklmnopqrstuvwxyz"}}',
      '{"error":{"code":"xx-xxxx-xxxxxxxxxxxxxxxxxxxxxxxxxx"}}',
    ],
    ['{"usage":{"input_tokens":12}}', '{"usage":{"input_tokens":12}}'],
    ['{"/home/ann/a b.txt":1}', '{"/xxxx/xxx/x x.xxx":0}'],
    ['AGENT_ERROR:"no key 42"', 'XXXXX_XXXXX:"xx xxx 00"'.replaceAll('X', 'x')],
  ])('%s', (frame, redacted) => {
    expect(redactedFrame(frame)).toBe(redacted)
  })

  test('a private text never stays, wherever it is', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{9,20}$/).filter((text) => /[b-wyzA-Z1-9]/.test(text.slice(1)))
    fc.assert(
      fc.property(
        secret,
        fc.array(fc.constantFrom('text', 'content', 'delta', 'args', 'path'), { minLength: 1, maxLength: 4 }),
        (text, path) => {
          const value = path.reduceRight<unknown>((inner, name) => ({ [name]: [inner, { a: inner }] }), `say ${text}`)
          expect(redactedFrame(JSON.stringify(value))).not.toContain(text)
          expect(redactedFrame(`AGENT: ${text}`)).not.toContain(text)
        },
      ),
    )
  })

  test('letters of every script are replaced', () => {
    expect(masked('Straße 12, مرحبا 你好 👋🏽 é')).toBe('xxxxxx 00, xxxxx xx 👋🏽 x')
  })
})
