import type { GatewayReply } from '../../../src/codec-kit/index.ts'

/** The data of an answer as a value; undefined without any. */
export function dataOf<T>(reply: GatewayReply): T | undefined {
  return 'data' in reply && reply.data !== undefined ? (JSON.parse(reply.data) as T) : undefined
}
