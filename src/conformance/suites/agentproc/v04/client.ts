import {
  allWords,
  every,
  expectThat,
  objectLines,
  objectsOf,
  type Player,
  type Reaction,
  reaps,
  rulesForClients,
  saidBy,
  skip,
  waits,
  wordsOf,
  writes,
} from '../../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const SESSION = 'conformance-1'

/** The rules for clients that run an agent of wire 0.4. */
export const clientRules = rulesForClients('agentproc-0.4', SECTIONS, {
  '1.objects': objectLines,
  '1.ascii': {
    expects: 'the turn is written in ASCII, other characters escaped',
    lenient: true,
    judge: (run) => every(allWords(run), 'line', ({ text }) => /^[\x00-\x7f]*$/.test(text)),
  },
  '1.one-turn': {
    expects: 'each agent gets exactly one turn, as the first line',
    needs: ['1.objects'],
    judge: ({ visits }) =>
      every(visits, 'start', (visit) => {
        const types = objectsOf({ lines: wordsOf(visit) }).map(({ type }) => type)
        return types[0] === 'turn' && types.lastIndexOf('turn') === 0
      }),
  },
  '1.turn': {
    expects: 'a turn has message, session_id, session_name and protocol_version as strings',
    needs: ['1.objects'],
    judge: (run) =>
      every(saidBy(run, 'turn'), 'turn', ({ message, session_id, session_name, protocol_version }) =>
        [message, session_id, session_name, protocol_version].every((one) => typeof one === 'string'),
      ),
  },
  '1.version': {
    expects: 'protocol_version is 0.4',
    needs: ['1.turn'],
    judge: (run) =>
      every(saidBy(run, 'turn'), 'turn', ({ protocol_version }) => String(protocol_version).startsWith('0.4')),
  },
  '1.eof': {
    expects: 'stdin ends after the turn, but with `permission` not before the result',
    judge: ({ visits }) =>
      every(visits, 'start', ({ heard }) => {
        const isAsking = heard.some((one) => one.is === 'in' && one.line.object?.['permission'] === true)
        const eof = heard.findIndex(({ is }) => is === 'eof')
        const result = heard.findIndex((one) => one.is === 'out' && one.text.includes('"type":"result"'))
        return isAsking ? eof < 0 || (result >= 0 && result < eof) : eof >= 0
      }),
  },
  '1.resume': {
    expects: `the next turn of the session has the id that the agent sent (${SESSION})`,
    needs: ['1.turn'],
    judge: (run) => {
      const later = saidBy(run, 'turn').slice(1)
      return later.length === 0
        ? skip('the client ran one turn only')
        : every(later, 'turn', ({ session_id }) => session_id === SESSION || session_id === '')
    },
  },
  '4.waits': {
    expects: 'the client reads until the result',
    judge: (run) => waits(run, (text) => /"type":"(?:result|error)"/.test(text)),
  },
  '4.reaps': {
    expects: 'the agent has exited before the client ends',
    needs: ['4.waits'],
    judge: reaps,
  },
  '3.response': {
    expects: 'a permission_request is answered with its request_id and behavior allow or deny',
    needs: ['1.eof', '4.waits'],
    judge: (run) =>
      saidBy(run, 'turn').some(({ permission }) => permission === true)
        ? expectThat(
            saidBy(run, 'permission_response').some(
              ({ request_id, behavior }) => request_id === ASKED && /^(?:allow|deny)$/.test(String(behavior)),
            ),
            `${saidBy(run, 'permission_response').length} answers`,
          )
        : skip('the client did not offer permission'),
  },
})

const ASKED = 'ask-1'
const LEAVE: readonly Reaction[] = [{ pause: 100 }, { exit: 0 }]
const RESULT: readonly Reaction[] = [writes({ type: 'result', text: 'All well.', session_id: SESSION }), ...LEAVE]

/** Plays an agent: a partial, a question when it may ask, and the result. */
export function play(): Player {
  let isAsking = false
  return {
    line: ({ object }) => {
      if (object?.['type'] === 'permission_response') return RESULT
      if (object?.['type'] !== 'turn') return []
      isAsking = object['permission'] === true
      const first = [writes({ type: 'partial', text: 'All', session_id: SESSION }), { pause: 200 }]
      if (!isAsking) return [...first, ...RESULT]
      return [
        ...first,
        writes({ type: 'permission_request', request_id: ASKED, tool_name: 'Bash', input: { command: 'true' } }),
      ]
    },
    eof: () => (isAsking ? RESULT : LEAVE),
  }
}
