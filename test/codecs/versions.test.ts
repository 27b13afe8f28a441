/** Protocols whose clients name a version: one that is none of ours is refused, and says which was asked for and which there is. */
import { describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { driveFront } from '../kit/drive.ts'

interface Client {
  codec: string
  dialect?: string
  /** What is written by a client that names this version. */
  write(version: unknown): string
  context?: (version: string) => object
  supported: string
  /** Versions are named as text, whatever they were. */
  as?: 'text'
  served: readonly unknown[]
  refused: readonly unknown[]
}

const json = (value: unknown): string => JSON.stringify(value)

const CLIENTS: Readonly<Record<string, Client>> = {
  'agentproc, variables': {
    codec: 'agentproc',
    write: () => '',
    context: (version) => ({ env: { AGENT_MESSAGE: 'hi', AGENT_PROTOCOL_VERSION: version } }),
    supported: '0.1 and 0.2',
    served: ['0.1', '0.2'],
    refused: ['0.3', '1.0', 'zero'],
  },
  'agentproc, a turn': {
    codec: 'agentproc',
    dialect: '0.4',
    write: (version) => json({ type: 'turn', message: 'hi', protocol_version: version }),
    supported: '0.3 and 0.4',
    as: 'text',
    served: ['0.3', '0.4', undefined],
    refused: ['0.2', '0.5', '1.0', 'zero', 2],
  },
  zene: {
    codec: 'zene',
    write: (version) => json({ protocol_version: version, request_id: 'r', session_id: 's', prompt: 'hi' }),
    context: () => ({ argv: ['host', '--single-request'] }),
    supported: 'expected 1',
    served: [1, undefined],
    refused: [0, 2, '1', 'v1'],
  },
  openharness: {
    codec: 'openharness',
    write: (version) => json({ protocol_version: version, request: { context: { user_intent: 'hi' } } }),
    supported: '1.x',
    served: ['1.0.0', '1.9.2'],
    refused: ['0.9.0', '2.0.0'],
  },
  'qwen, a request': {
    codec: 'qwen',
    write: (version) => json({ model: 'm', protocol_version: version, messages: [{ role: 'user', content: 'hi' }] }),
    context: () => ({ argv: ['--output-format', 'stream-json', '--input-format', 'stream-json'] }),
    supported: '1.0',
    served: ['1.0', '1.7', undefined],
    refused: ['0.9', '2.0', 'next'],
  },
  'qwen, an argument': {
    codec: 'qwen',
    write: () => json({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    context: (version) => ({
      argv: ['--output-format', 'stream-json', '--input-format', 'stream-json', '--protocol-version', version],
    }),
    supported: '1.0',
    served: ['1.0'],
    refused: ['0.9', '2.0', 'next'],
  },
}

describe.each(Object.entries(CLIENTS))('%s', (_, client) => {
  async function said(version: unknown) {
    const codec = (await loadCodec(client.codec))!
    const dialect = client.dialect === undefined ? {} : { dialect: client.dialect }
    const front = driveFront(codec, { ...dialect, ...client.context?.(String(version)) })
    const line = client.write(version)
    if (line !== '') front.feed(line)
    front.link.decodeEnd?.('eof')
    return front
  }

  test.each(client.served)('%j is served', async (version) => {
    const front = await said(version)
    expect(front.commands).toMatchObject([{ type: 'turn-start' }])
  })

  test.each(client.refused)('%j is refused', async (version) => {
    const front = await said(version)
    expect(front.commands.filter(({ type }) => type === 'turn-start')).toEqual([])
    const words = String(front.sent.at(-1)).replaceAll('\\"', '"')
    expect(words).toContain(json(client.as === undefined ? version : String(version)))
    expect(words).toContain(client.supported)
    expect(front.exitCode).not.toBe(0)
  })
})
