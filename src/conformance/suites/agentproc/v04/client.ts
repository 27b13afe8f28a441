import {
  allWords,
  type ClientRule,
  type ClientRun,
  every,
  expectThat,
  isLeaving,
  type JsonRecord,
  objectsOf,
  type Player,
  type Reaction,
  reaps,
  skip,
  waits,
  wordsOf,
} from '../../../kit/index.ts'

const TURN = '1 Turn (stdin)'
const PERMISSION = '3 Permission'
const OBJECTS = 'agentproc-0.4.client.1.objects'
const FIELDS = 'agentproc-0.4.client.1.turn'
const SESSION = 'conformance-1'
const words = (run: ClientRun): JsonRecord[] => objectsOf({ lines: allWords(run) })
const turns = (run: ClientRun): JsonRecord[] => words(run).filter(({ type }) => type === 'turn')
const replies = (run: ClientRun): JsonRecord[] => words(run).filter(({ type }) => type === 'permission_response')

/** The rules for clients that run an agent of wire 0.4. */
export const clientRules: readonly ClientRule[] = [
  {
    id: OBJECTS,
    section: TURN,
    expects: 'every line on stdin is a JSON object, ended by LF',
    judge: (run) => every(allWords(run), 'line', ({ object, ended }) => object !== undefined && ended),
  },
  {
    id: 'agentproc-0.4.client.1.ascii',
    section: TURN,
    expects: 'the turn is written in ASCII, other characters escaped',
    lenient: true,
    judge: (run) => every(allWords(run), 'line', ({ text }) => /^[\x00-\x7f]*$/.test(text)),
  },
  {
    id: 'agentproc-0.4.client.1.one-turn',
    section: TURN,
    expects: 'each agent gets exactly one turn, as the first line',
    needs: [OBJECTS],
    judge: ({ visits }) =>
      every(visits, 'start', (visit) => {
        const types = objectsOf({ lines: wordsOf(visit) }).map(({ type }) => type)
        return types[0] === 'turn' && types.lastIndexOf('turn') === 0
      }),
  },
  {
    id: FIELDS,
    section: TURN,
    expects: 'a turn has message, session_id, session_name and protocol_version as strings',
    needs: [OBJECTS],
    judge: (run) =>
      every(turns(run), 'turn', ({ message, session_id, session_name, protocol_version }) =>
        [message, session_id, session_name, protocol_version].every((one) => typeof one === 'string'),
      ),
  },
  {
    id: 'agentproc-0.4.client.1.version',
    section: TURN,
    expects: 'protocol_version is 0.4',
    needs: [FIELDS],
    judge: (run) => every(turns(run), 'turn', ({ protocol_version }) => String(protocol_version).startsWith('0.4')),
  },
  {
    id: 'agentproc-0.4.client.1.eof',
    section: TURN,
    expects: 'stdin is ended behind the turn, but with `permission` not before the result',
    judge: ({ visits }) =>
      every(visits, 'start', ({ heard }) => {
        const isAsking = heard.some((one) => one.is === 'in' && one.line.object?.['permission'] === true)
        const eof = heard.findIndex(({ is }) => is === 'eof')
        const result = heard.findIndex((one) => one.is === 'out' && one.text.includes('"type":"result"'))
        return isAsking ? eof < 0 || (result >= 0 && result < eof) : eof >= 0
      }),
  },
  {
    id: 'agentproc-0.4.client.1.resume',
    section: TURN,
    expects: `the next turn of the session has the id that the agent told (${SESSION})`,
    needs: [FIELDS],
    judge: (run) => {
      const later = turns(run).slice(1)
      return later.length === 0
        ? skip('the client ran one turn only')
        : every(later, 'turn', ({ session_id }) => session_id === SESSION || session_id === '')
    },
  },
  {
    id: 'agentproc-0.4.client.4.waits',
    section: '4 Exit',
    expects: 'the client reads until the result',
    judge: (run) => waits(run, (text) => /"type":"(?:result|error)"/.test(text), isLeaving),
  },
  {
    id: 'agentproc-0.4.client.4.reaps',
    section: '4 Exit',
    expects: 'the agent has exited before the client ends',
    needs: ['agentproc-0.4.client.4.waits'],
    judge: (run) => reaps(run) ?? expectThat(run.end === 'exited', 'the client did not end by itself'),
  },
  {
    id: 'agentproc-0.4.client.3.response',
    section: PERMISSION,
    expects: 'a permission_request is answered with its request_id and behavior allow or deny',
    needs: ['agentproc-0.4.client.1.eof', 'agentproc-0.4.client.4.waits'],
    judge: (run) =>
      turns(run).some(({ permission }) => permission === true)
        ? expectThat(
            replies(run).some(
              ({ request_id, behavior }) => request_id === ASKED && /^(?:allow|deny)$/.test(String(behavior)),
            ),
            `${replies(run).length} answers`,
          )
        : skip('the client did not offer permission'),
  },
]

const ASKED = 'ask-1'
const say = (event: JsonRecord): Reaction => ({ write: `${JSON.stringify(event)}\n` })
const LEAVE: readonly Reaction[] = [{ pause: 100 }, { exit: 0 }]
const RESULT: readonly Reaction[] = [say({ type: 'result', text: 'All well.', session_id: SESSION }), ...LEAVE]

/** Plays an agent: a partial, a question when it may ask, and the result. */
export function play(): Player {
  let isAsking = false
  return {
    line: ({ object }) => {
      if (object?.['type'] === 'permission_response') return RESULT
      if (object?.['type'] !== 'turn') return []
      isAsking = object['permission'] === true
      const first = [say({ type: 'partial', text: 'All', session_id: SESSION }), { pause: 200 }]
      if (!isAsking) return [...first, ...RESULT]
      return [
        ...first,
        say({ type: 'permission_request', request_id: ASKED, tool_name: 'Bash', input: { command: 'true' } }),
      ]
    },
    eof: () => (isAsking ? RESULT : LEAVE),
  }
}
