import { type JsonText, object, quote } from '../../../src/model/index.ts'
import { NAME, PROTOCOL_VERSION } from '../wire.ts'
import { type Client, carries, type Shows } from './client.ts'
import type { Initialize } from './schema.ts'

/** The version of this implementation in `agentInfo`. */
const VERSION = '1.0.0'

/** Reads what a client can show. */
export function showsOf({ clientCapabilities }: Initialize): Shows {
  const { session, elicitation } = clientCapabilities ?? {}
  return {
    notices: session?.notices === true,
    booleans: session?.configOptions?.boolean === true,
    forms: elicitation?.form === true,
    urls: elicitation?.url === true,
  }
}

/**
 * The result of `initialize`. The version is the one that is spoken here, whatever the client asks for: a client that
 * does not know it closes the connection. The prompt capabilities are those of the client's agent.
 */
export function initialized(client: Client): JsonText {
  const flag = (...items: Parameters<typeof carries>[1][]): string =>
    String(items.every((item) => carries(client, item)))
  const servers = flag('start.mcpServers')
  const prompt = `{"image":${flag('part.image')},"audio":${flag('part.audio')},"embeddedContext":true}`
  const folders = carries(client, 'start.folders') ? ',"additionalDirectories":{}' : ''
  return object({
    protocolVersion: String(PROTOCOL_VERSION),
    agentCapabilities: object({
      loadSession: 'true',
      promptCapabilities: prompt,
      mcpCapabilities: `{"http":${servers},"sse":${servers}}`,
      sessionCapabilities: `{"list":{},"delete":{},"resume":{},"close":{},"fork":{}${folders}}`,
    }),
    agentInfo: object({
      name: quote(NAME),
      title: quote(client.agent === undefined ? 'Turnpike' : `${client.agent} (Turnpike)`),
      version: quote(VERSION),
    }),
    authMethods: '[]',
  })
}
