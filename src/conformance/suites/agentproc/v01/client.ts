import {
  type ClientRule,
  every,
  expectThat,
  isLeaving,
  type Player,
  type PlayerContext,
  parsed,
  reaps,
  skip,
  waits,
  wordsOf,
} from '../../../kit/index.ts'

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
export const clientRules: readonly ClientRule[] = [
  {
    id: 'agentproc-0.1.client.2.1.variables',
    section: '2.1 Core',
    expects: `${ALWAYS.join(', ')} are set, an empty session id meaning a new session`,
    judge: ({ visits }) => every(visits, 'start', ({ env }) => ALWAYS.every((name) => name in env)),
  },
  {
    id: 'agentproc-0.1.client.2.1.streaming',
    section: '2.1 Core',
    expects: 'AGENT_STREAMING is 1 or 0',
    needs: ['agentproc-0.1.client.2.1.variables'],
    judge: ({ visits }) => every(visits, 'start', ({ env }) => /^[01]$/.test(env['AGENT_STREAMING']!)),
  },
  {
    id: 'agentproc-0.1.client.2.1.version',
    section: '2.1 Core',
    expects: 'AGENT_PROTOCOL_VERSION is 0.1',
    needs: ['agentproc-0.1.client.2.1.variables'],
    judge: ({ visits }) => every(visits, 'start', ({ env }) => env['AGENT_PROTOCOL_VERSION']!.startsWith('0.1')),
  },
  {
    id: 'agentproc-0.1.client.2.3.attachments',
    section: '2.3 Attachments (multi)',
    expects: 'AGENT_ATTACHMENTS, when it is set, is a JSON list',
    judge: ({ visits }) =>
      every(
        visits.flatMap(({ env }) => env['AGENT_ATTACHMENTS'] ?? []),
        'AGENT_ATTACHMENTS',
        (value) => Array.isArray(parsed(value)),
      ),
  },
  {
    id: 'agentproc-0.1.client.2.4.stdin',
    section: '2.4 stdin',
    expects: 'stdin is empty, or holds the message alone',
    needs: ['agentproc-0.1.client.2.1.variables'],
    judge: ({ visits }) =>
      every(visits, 'start', (visit) => {
        const text = wordsOf(visit)
          .map((line) => line.text)
          .join('\n')
        return text === '' || text.trim() === visit.env['AGENT_MESSAGE']!.trim()
      }),
  },
  {
    id: 'agentproc-0.1.client.3.1.resume',
    section: '3.1 Session line',
    expects: `the next turn of the session has the last id that the agent told (${SESSION})`,
    needs: ['agentproc-0.1.client.2.1.variables'],
    judge: ({ visits }) => {
      const later = visits.slice(1).map(({ env }) => env['AGENT_SESSION_ID']!)
      return later.length === 0
        ? skip('the client ran one turn only')
        : every(later, 'turn', (id) => id === SESSION || id === '')
    },
  },
  {
    id: 'agentproc-0.1.client.5.waits',
    section: '5 Timeout Handling',
    expects: 'the client reads until the agent exits',
    judge: (run) => waits(run, (text) => text.includes('AGENT_SESSION:conformance-2'), isLeaving),
  },
  {
    id: 'agentproc-0.1.client.5.reaps',
    section: '5 Timeout Handling',
    expects: 'the agent has exited before the client ends',
    needs: ['agentproc-0.1.client.5.waits'],
    judge: (run) => reaps(run) ?? expectThat(run.end === 'exited', 'the client did not end by itself'),
  },
]

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
