import type { Bodies, Operation, OperationAnswer, OperationParameter, Operations } from '../../src/contract/index.ts'
import { answer, failures, json, refTo } from '../../src/describe/index.ts'
import { SCHEMAS } from './reply-schemas.ts'

const FAILED = failures(refTo('Failure'), 400, 401, 403, 404, 429, 503)
const TURN_FAILED = failures(
  { anyOf: [refTo('Failure'), refTo('Answer')] },
  ...([400, 401, 403, 404, 409, 413, 415, 422, 429, 499, 500, 502, 503, 504] as const),
)

/** The headers of an answer that a turn gives. */
const OF_TURN = {
  'Turnpike-Turn': 'The id of the turn.',
  'Turnpike-Agent': 'The agent that runs it.',
  'Turnpike-Loss':
    'The losses between the protocols, such as `dropped=1`; absent without losses, a trailer in streams.',
  'Idempotent-Replayed': '`true`: the answer is that of an earlier request with the same key.',
}

/** A request for something that there is: what its answer is. */
function about(id: string, summary: string, named: string, more: Partial<Operation> = {}): Operation {
  return { id, summary, answers: { 200: answer(`${named}, as described there.`, refTo(named)), ...FAILED }, ...more }
}

function query(
  name: string,
  description: string,
  schema: OperationParameter['schema'] = { type: 'string' },
): OperationParameter {
  return { name, in: 'query', description, schema }
}

function header(name: string, description: string): OperationParameter {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

const STREAMED: Bodies = {
  'text/event-stream': { schema: refTo('Event') },
  'application/x-ndjson': { schema: refTo('Event') },
}

const PAGE = [
  query('limit', 'The most entries of the page.', { type: 'integer', minimum: 1, maximum: 200, default: 200 }),
  query('before', 'Only what comes after this entry: `next` of the page before.'),
  query('agent', 'Only of this agent.'),
  query('key', 'Only of the key of this name.'),
]

const EVENTS: OperationAnswer = {
  description:
    'Its events, as they come, each the data of a server-sent event or a line. In silence an event `ping` with the data `{}`, or an empty line, comes every 15 seconds.',
  bodies: STREAMED,
}

const CHANGES: Bodies = {
  'text/event-stream': { schema: refTo('TurnPage') },
  'application/x-ndjson': { schema: refTo('TurnPage') },
}

/** The endpoints of the native API. */
export const operations: Operations = {
  tag: 'Native',
  about: 'The gateway’s own API, with all of its model of a turn.',
  schemas: SCHEMAS,
  operations: {
    'POST /v1/turns': {
      id: 'beginTurn',
      summary: 'Begins a turn, or goes on with a parked one.',
      description:
        'The answer is whole, a stream of events, or only says that the turn was taken, by `Accept` and `Prefer`.',
      parameters: [
        header('Accept', 'The form of the answer: `application/json`, `text/event-stream` or `application/x-ndjson`.'),
        header('Prefer', '`respond-async` runs the turn in the background.'),
        header('Idempotency-Key', 'A repeated key is answered with the first request’s turn.'),
        header('X-Request-ID', 'The id of the request, if the body has none.'),
        header('Turnpike-Agent', 'The agent, if neither path nor body names one.'),
        header(
          'Turnpike-Asks',
          '`follower`: the questions of the agent wait for who follows the turn with `asks=now`.',
        ),
      ],
      request: json({ anyOf: [refTo('TurnStart'), refTo('ContinueTurn')] }, { input: 'Hello' }),
      answers: {
        200: {
          description:
            'The whole answer, or its events: the data of a server-sent event, or a line, is one event. A question of the agent parks a whole answer (`outcome: parked`).',
          headers: OF_TURN,
          bodies: { 'application/json': { schema: refTo('Answer') }, ...STREAMED },
        },
        202: {
          ...answer('The turn was taken and runs in the background.', refTo('Accepted')),
          headers: { Location: 'The URL of the turn.', 'Preference-Applied': '`respond-async`.' },
        },
        ...TURN_FAILED,
      },
    },
    'GET /v1/turns': about('listTurns', 'Lists turns, the newest first.', 'TurnPage', {
      parameters: [
        ...PAGE,
        query('front', 'Only of clients with this protocol.'),
        query('back', 'Only of agents with this protocol.'),
        query('session', 'Only of this session, by the client’s id or the gateway’s.'),
        query('state', 'Only in this state.', {
          type: 'string',
          enum: ['running', 'completed', 'failed', 'cancelled'],
        }),
        query('q', 'Only with this text in their id, the id of their request or session, or their error.'),
        query('follow', '`1`: the running turns, then every change, as a stream.'),
      ],
      answers: {
        200: {
          description: 'A page; with `follow=1` the running turns, then each change, as events `turns`.',
          bodies: { 'application/json': { schema: refTo('TurnPage') }, ...CHANGES },
        },
        ...FAILED,
      },
    }),
    'GET /v1/turns/:turn': about('getTurn', 'Shows a turn with its content so far.', 'TurnDetails'),
    'DELETE /v1/turns/:turn': about('deleteTurn', 'Deletes an ended turn.', 'Done'),
    'GET /v1/turns/:turn/input': about('getTurnInput', 'Shows what the client of a turn has said.', 'TurnInput', {
      parameters: [query('continuation', 'The token of a park: shows the results that came for its calls.')],
    }),
    'GET /v1/turns/:turn/events': {
      id: 'followTurn',
      summary: 'Follows a turn from its first event on.',
      parameters: [
        header('Last-Event-ID', 'Only the events after this number.'),
        query('asks', '`now`: this client answers the questions of the agent too.'),
      ],
      answers: { 200: EVENTS, 204: { description: 'No event follows.' }, ...FAILED },
    },
    'POST /v1/turns/:turn/cancel': about('cancelTurn', 'Cancels a turn.', 'Done'),
    'POST /v1/turns/:turn/approvals/:ask': about('answerAsk', 'Answers a question of an agent.', 'Done', {
      request: json(refTo('Approval')),
    }),
    'GET /v1/sessions': about('listSessions', 'Lists sessions, the last used first.', 'SessionPage', {
      parameters: [...PAGE, query('q', 'Only with this text in their ids or title.')],
    }),
    'GET /v1/sessions/:session': about('getSession', 'Shows a session with its messages.', 'SessionDetails'),
    'POST /v1/sessions/:session/fork': about(
      'forkSession',
      'Copies a session, which goes its own way from then on.',
      'Session',
      {
        request: json(refTo('Fork'), { session: { id: 'other' } }),
      },
    ),
    'GET /v1/agents/:agent/sessions': about(
      'listAgentSessions',
      'Lists the sessions that an agent keeps itself.',
      'AgentSessionPage',
      {
        description: 'For administrators. Not every agent can list them.',
        parameters: [
          query('cwd', 'Only those that work in this folder.'),
          query('before', 'The next page: `next` of the page before.'),
        ],
      },
    ),
    'DELETE /v1/sessions/:session': about('deleteSession', 'Deletes a session with all that is kept of it.', 'Done'),
  },
}
