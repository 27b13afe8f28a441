import { type JsonRecord, objectIn, type Player, type Reaction, writes } from '../../kit/index.ts'

/** The session that the stand-in opens, and the ids of its own requests. */
export const SESSION_ID = 'session-conformance'
export const ASK = 'conformance-permission'
export const UNKNOWN = 'conformance-unknown'
/** The options of its permission. */
export const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
] as const

const AGENT = {
  protocolVersion: 1,
  agentCapabilities: { loadSession: false, promptCapabilities: {} },
  agentInfo: { name: 'conformance', version: '1' },
  authMethods: [],
}
const CALL = { toolCallId: 'call-1', title: 'List files', kind: 'read', status: 'pending' }

const says = (message: JsonRecord): { readonly write: string } => writes({ jsonrpc: '2.0', ...message })
const update = (kind: string, more: JsonRecord): Reaction =>
  says({ method: 'session/update', params: { sessionId: SESSION_ID, update: { sessionUpdate: kind, ...more } } })
const chunk = (text: string): Reaction => update('agent_message_chunk', { content: { type: 'text', text } })

/** Plays an agent: a prompt asks for one permission and for what no client has, and is then answered. */
export function play(): Player {
  /** The prompt that waits for the answers of the client, and how many there are to come. */
  let open: { id: unknown; left: number } | undefined
  const end = (stopReason: string): readonly Reaction[] => {
    const { id } = open!
    open = undefined
    return [says({ id, result: { stopReason } })]
  }
  return {
    line({ object }) {
      if (!object) return [says({ id: null, error: { code: -32700, message: 'Parse error' } })]
      const { id, method } = object
      if (method === undefined) {
        if (!open) return []
        open.left -= 1
        return open.left > 0 ? [] : [chunk('All'), { pause: 200 }, chunk(' well.'), ...end('end_turn')]
      }
      if (id === undefined) return method === 'session/cancel' && open ? end('cancelled') : []
      if (method === 'initialize') return [{ pause: 100 }, says({ id, result: AGENT })]
      if (method === 'session/new') return [says({ id, result: { sessionId: SESSION_ID } })]
      if (method !== 'session/prompt') return [says({ id, error: { code: -32601, message: 'Method not found' } })]
      if (objectIn(object, 'params')['sessionId'] !== SESSION_ID || open) {
        return [says({ id, error: { code: -32602, message: 'Invalid params' } })]
      }
      open = { id, left: 2 }
      return [
        update('tool_call', CALL),
        says({
          id: ASK,
          method: 'session/request_permission',
          params: { sessionId: SESSION_ID, toolCall: CALL, options: OPTIONS },
        }),
        says({ id: UNKNOWN, method: '_conformance/unknown', params: {} }),
      ]
    },
  }
}
