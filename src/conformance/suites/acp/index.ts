import { type HostileFacts, type ProtocolSuites, SESSION, type Suite } from '../../kit/index.ts'
import { agentRules } from './agent.ts'
import { clientRules } from './client.ts'
import { play } from './play.ts'
import { answer, OPENING, scenarios, sessionId } from './scenarios.ts'

const hostile: HostileFacts = {
  prefix: 'acp',
  form: 'objects',
  section: '9 Transports',
  isLast: (frame) => frame.includes('"stopReason"'),
  unfinishedExit: 1,
  agents: { 'garbage-line': 'answer', 'lines-that-are-no-objects': 'answer' },
  turns: {
    opening: OPENING,
    many: true,
    request: (id, text) => ({
      jsonrpc: '2.0',
      id,
      method: 'session/prompt',
      params: { sessionId: SESSION, prompt: [{ type: 'text', text }] },
    }),
    ids: ['id'],
    cancel: (id) => ({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: id } }),
    unknown: { jsonrpc: '2.0', method: '_conformance/unknown', params: {} },
    endOf: (said) => {
      const { id, method } = said
      if (method !== undefined || id === 'i1' || id === 'n1' || id === undefined) return undefined
      return id === null ? 'refused' : String(id)
    },
    answer,
  },
}

const suite: Suite = {
  framing: 'lines',
  http: false,
  env: [],
  values: { [SESSION]: sessionId },
  scenarios,
  agent: agentRules,
  client: clientRules,
  play,
  hostile,
}

/** The tests of the Agent Client Protocol, version 1. */
export const conformance: ProtocolSuites = { suites: { v1: suite } }
