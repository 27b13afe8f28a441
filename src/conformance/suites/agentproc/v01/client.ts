import {
  every,
  type Player,
  type PlayerContext,
  parsed,
  reaps,
  rulesForClients,
  skip,
  waits,
  wordsOf,
} from '../../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const ALWAYS = [
  'AGENT_MESSAGE',
  'AGENT_SESSION_ID',
  'AGENT_SESSION_NAME',
  'AGENT_FROM_USER',
  'AGENT_STREAMING',
  'AGENT_PROTOCOL_VERSION',
] as const

/** The variables of the wire. */
export const VARIABLES: readonly string[] = [...ALWAYS, 'AGENT_IMAGE_URL', 'AGENT_FILE_URL', 'AGENT_ATTACHMENTS']

/** The session id that the stand-in tells: the last of two lines. */
export const SESSION = 'conformance-2'

/** The rules for clients that run an AGENT_ program. */
export const clientRules = rulesForClients('agentproc-0.1', SECTIONS, {
  '2.1.variables': {
    expects: `${ALWAYS.join(', ')} are set, an empty session id meaning a new session`,
    judge: ({ visits }) => every(visits, 'start', ({ env }) => ALWAYS.every((name) => name in env)),
  },
  '2.1.streaming': {
    expects: 'AGENT_STREAMING is 1 or 0',
    needs: ['2.1.variables'],
    judge: ({ visits }) => every(visits, 'start', ({ env }) => /^[01]$/.test(env['AGENT_STREAMING']!)),
  },
  '2.1.version': {
    expects: 'AGENT_PROTOCOL_VERSION is 0.1',
    needs: ['2.1.variables'],
    judge: ({ visits }) => every(visits, 'start', ({ env }) => env['AGENT_PROTOCOL_VERSION']!.startsWith('0.1')),
  },
  '2.3.attachments': {
    expects: 'AGENT_ATTACHMENTS, when it is set, is a JSON list',
    judge: ({ visits }) =>
      every(
        visits.flatMap(({ env }) => env['AGENT_ATTACHMENTS'] ?? []),
        'AGENT_ATTACHMENTS',
        (value) => Array.isArray(parsed(value)),
      ),
  },
  '2.4.stdin': {
    expects: 'stdin is empty, or holds the message alone',
    needs: ['2.1.variables'],
    judge: ({ visits }) =>
      every(visits, 'start', (visit) => {
        const text = wordsOf(visit)
          .map((line) => line.text)
          .join('\n')
        return text === '' || text.trim() === visit.env['AGENT_MESSAGE']!.trim()
      }),
  },
  '3.1.resume': {
    expects: `the next turn of the session has the last id that the agent sent (${SESSION})`,
    needs: ['2.1.variables'],
    judge: ({ visits }) => {
      const later = visits.slice(1).map(({ env }) => env['AGENT_SESSION_ID']!)
      return later.length === 0
        ? skip('the client ran one turn only')
        : every(later, 'turn', (id) => id === SESSION || id === '')
    },
  },
  '5.waits': {
    expects: 'the client reads until the agent exits',
    judge: (run) => waits(run, (text) => text.includes('AGENT_SESSION:conformance-2')),
  },
  '5.reaps': {
    expects: 'the agent has exited before the client ends',
    needs: ['5.waits'],
    judge: reaps,
  },
})

/** Plays an AGENT_ program: two session lines, two partials when they are asked for, and the rest as body. */
export function play({ env }: PlayerContext): Player {
  const first = env['AGENT_STREAMING'] === '1' ? 'AGENT_PARTIAL:"All"\n' : 'All\n'
  const reply = env['AGENT_STREAMING'] === '1' ? 'AGENT_PARTIAL:" well."\n' : 'well.\n'
  return {
    open: () => [
      { write: `AGENT_SESSION:conformance-1\n${first}` },
      { pause: 200 },
      { write: `${reply}AGENT_SESSION:${SESSION}\n` },
      { pause: 100 },
      { exit: 0 },
    ],
    line: () => [],
    eof: () => [],
  }
}
