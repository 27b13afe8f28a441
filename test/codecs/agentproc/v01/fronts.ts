import { codec } from '../../../../codecs/agentproc/index.ts'
import type { FrontContext } from '../../../../src/contract/index.ts'
import { driveFront, type FrontDrive } from '../../../kit/drive.ts'

/** A stand-in started with these AGENT_ variables (without the prefix). */
export function stdio(variables: Record<string, string>): FrontDrive {
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [`AGENT_${name}`, value]))
  return driveFront(codec, { env })
}

/** A request over HTTP with this body. */
export function http(body: unknown, context: Partial<FrontContext> = {}): FrontDrive {
  const front = driveFront(codec, {
    dialect: '0.4',
    transport: 'http',
    method: 'POST',
    path: '/v1/agentproc',
    ...context,
  })
  front.feed(typeof body === 'string' ? body : JSON.stringify(body))
  return front
}
