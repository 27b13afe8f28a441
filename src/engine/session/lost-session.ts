import type { HeardBy, Memory, SessionRecord } from '../../contract/index.ts'
import type { AgentLink } from '../agent/index.ts'
import { type AgentSettings, placeOf } from '../common/index.ts'

/** The reasons why an agent does not know a conversation, each as the text of a refusal and of a notice. */
export const LOST = {
  process: ['The process of this session is gone', 'The process of this session was gone'],
  forgotten: ['The agent does not know this session any more', 'The agent did not know this session any more'],
  wentOn: [
    'The session has gone on in another process of the gateway',
    'The session had gone on in another process of the gateway',
  ],
  copied: [
    'The agent does not know the session that this one is a copy of',
    'The agent did not know the session that this one is a copy of',
  ],
  protocol: [
    'The agent of this session has another protocol now',
    'The agent of this session had another protocol before',
  ],
} as const

/** The difference of an agent from the one that has heard a session; undefined when none is known. */
export function changeOf(heard: HeardBy | undefined, agent: AgentSettings): keyof HeardBy | undefined {
  const now = placeOf(agent)
  return (['back', 'place'] as const).find((what) => (heard?.[what] ?? now[what]) !== now[what])
}

/** True when an agent that keeps its sessions in `memory` cannot know this one, on a link that has not had a turn of it. */
export function isLost(memory: Memory, { bound, renamed }: SessionRecord, { persistent }: AgentLink): boolean {
  switch (memory) {
    case 'process':
      return persistent
    case 'named':
      return renamed === true && bound === undefined
    case 'request':
      return false
    default:
      return persistent && bound === undefined
  }
}
