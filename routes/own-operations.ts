import type { JsonSchema, Operation, Operations } from '../src/contract/index.ts'
import { answer, failures, jsonLines, listOf, objectOf, refTo } from '../src/describe/index.ts'

const text: JsonSchema = { type: 'string' }
const count: JsonSchema = { type: 'integer', minimum: 0 }
const number: JsonSchema = { type: 'number' }
const oneOf = (...words: string[]): JsonSchema => ({ type: 'string', enum: words })
const time: JsonSchema = { type: 'number', description: 'Milliseconds since the epoch.' }

/** The number of replicas, the number of those that gave their part of the answer, and for admins which did not. */
const REPLICAS = objectOf({ of: count, answered: count, missing: listOf(text) }, ['of', 'answered'])

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Refusal: objectOf({ error: objectOf({ code: text, message: text }, ['code', 'message']) }, ['error']),
  Percentiles: objectOf({ p50: number, p95: number }, ['p50', 'p95']),
  Agent: objectOf(
    {
      name: text,
      protocol: text,
      default: { type: 'boolean' },
      version: text,
      model: text,
      breaker: oneOf('closed', 'open', 'half-open'),
      pool: objectOf({ running: count, idle: count, max: count }, ['running', 'idle']),
      queued: count,
      turns: count,
      failures: count,
      firstEvent: refTo('Percentiles'),
      total: refTo('Percentiles'),
      errors: listOf(
        objectOf({ at: time, turn: text, times: count, code: text, message: text, stderr: text }, [
          'at',
          'turn',
          'times',
          'code',
        ]),
      ),
    },
    ['name', 'protocol', 'default', 'breaker', 'pool', 'queued', 'turns', 'failures', 'errors'],
  ),
  Minute: objectOf(
    {
      at: time,
      turns: count,
      failed: count,
      input: number,
      output: number,
      costUsd: number,
      firstEvent: refTo('Percentiles'),
      total: refTo('Percentiles'),
    },
    ['at', 'turns', 'failed', 'input', 'output', 'costUsd'],
  ),
  WireFrame: objectOf({ dir: oneOf('in', 'out'), at: time, seq: count, text, cut: { type: 'boolean' } }, [
    'dir',
    'text',
  ]),
  Pair: objectOf(
    {
      client: text,
      agent: text,
      counts: { type: 'object', additionalProperties: count },
      items: { type: 'object', additionalProperties: text },
      topics: { type: 'object', additionalProperties: text },
      losses: listOf(objectOf({ item: text, kind: oneOf('weakened', 'lost'), why: text }, ['item', 'kind', 'why'])),
    },
    ['client', 'agent', 'counts', 'items', 'topics', 'losses'],
  ),
  Door: objectOf({ protocol: text, over: oneOf('http', 'stdio'), method: text, path: text, command: text }, [
    'protocol',
    'over',
  ]),
}

const REFUSED = failures(refTo('Refusal'), 401, 403, 404, 429)

/** An endpoint that is read, and its answer. */
function read(id: string, summary: string, schema: JsonSchema, refused = REFUSED): Operation {
  return { id, summary, answers: { 200: answer('What was asked for.', schema), ...refused } }
}

function page(id: string, summary: string, type: string): Operation {
  return {
    id,
    summary,
    answers: { 200: { description: 'The text.', bodies: { [type]: { schema: text } } }, ...REFUSED },
  }
}

function done(id: string, summary: string, request?: Operation['request']): Operation {
  const answers = { 204: { description: 'Done.' }, ...REFUSED }
  return { id, summary, ...(request && { request }), answers }
}

const health = read('getHealth', 'Tells that the process lives.', objectOf({ status: text }, ['status']))

/** The endpoints of the gateway itself. */
export const operations: Operations = {
  tag: 'Gateway',
  about: 'The gateway itself: health, agents, figures, the matrix.',
  schemas: SCHEMAS,
  operations: {
    'GET /': read(
      'getCatalog',
      'Lists the endpoints of the protocols.',
      objectOf({ name: text, version: text, endpoints: listOf(text), agents: text }, [
        'name',
        'version',
        'endpoints',
        'agents',
      ]),
    ),
    'GET /healthz': health,
    'GET /health': { ...health, id: 'getHealthToo' },
    'GET /readyz': read(
      'getReadiness',
      'Tells whether turns are taken; 503 when not.',
      objectOf({ status: text }, ['status']),
    ),
    'GET /openapi.json': read('getOpenApi', 'This description.', { type: 'object' }),
    'GET /docs': page('getDocs', 'This description as a page.', 'text/html'),
    'GET /docs/style.css': page('getDocsStyle', 'The style of that page.', 'text/css'),
    'GET /v1/me': read(
      'getMe',
      'Tells a client who it is.',
      objectOf({ role: oneOf('user', 'admin'), key: text, keys: { type: 'boolean' } }, ['role', 'keys']),
    ),
    'GET /v1/agents': read(
      'listAgents',
      'Lists the agents and how they are doing.',
      objectOf({ agents: listOf(refTo('Agent')), replicas: REPLICAS }, ['agents']),
    ),
    'GET /v1/overview': read(
      'getOverview',
      'Tells how the gateway is doing, by minute.',
      objectOf(
        {
          running: count,
          queued: count,
          store: objectOf({ writable: { type: 'boolean' }, writeMs: count }, ['writable', 'writeMs']),
          minutes: listOf(refTo('Minute')),
          replicas: REPLICAS,
        },
        ['running', 'queued', 'store', 'minutes'],
      ),
    ),
    'GET /v1/doors': read(
      'listDoors',
      'Lists the ways in for clients.',
      objectOf({ doors: listOf(refTo('Door')) }, ['doors']),
    ),
    'GET /v1/matrix': read(
      'getMatrix',
      'Tells what each pair of protocols keeps and loses.',
      objectOf({ fronts: listOf(text), backs: listOf(text), pairs: listOf(refTo('Pair')) }, [
        'fronts',
        'backs',
        'pairs',
      ]),
    ),
    'GET /v1/turns/:turn/wire': {
      ...read(
        'getTurnWire',
        'Shows the frames of a turn’s client and agent.',
        objectOf(
          {
            kept: { type: 'boolean' },
            clientProtocol: text,
            agentProtocol: text,
            client: listOf(refTo('WireFrame')),
            agent: listOf(refTo('WireFrame')),
          },
          ['kept', 'clientProtocol', 'client', 'agent'],
        ),
        { ...REFUSED, ...failures(refTo('Failure'), 400, 404), default: REFUSED['default']! },
      ),
      parameters: [
        {
          name: 'client',
          in: 'query',
          description: 'Writes both wires again, that of the client in this protocol.',
          schema: text,
        },
      ],
    },
    'GET /metrics': page('getMetrics', 'The metrics, for Prometheus.', 'text/plain'),
    'POST /v1/stdio/:protocol': {
      id: 'standIn',
      summary: 'Connects the streams of a stand-in, as lines of JSON.',
      request: jsonLines({ type: 'object' }),
      answers: {
        200: { description: 'Its output.', bodies: jsonLines({ type: 'object' }) },
        ...REFUSED,
      },
    },
    'POST /v1/cluster/sessions/:id/hand-over': done('handOver', 'A replica asks another one to give up a session.'),
    'GET /console': page('getConsole', 'The console.', 'text/html'),
    'GET /console/settings': read('getConsoleSettings', 'The settings of the console.', { type: 'object' }),
    'GET /console/:file': page('getConsoleFile', 'A file of the console.', 'text/javascript'),
    'POST /console/login': done('logIn', 'Gives a browser a cookie that stands for a key.', {
      'application/json': { schema: objectOf({ key: text }, ['key']) },
    }),
    'POST /console/logout': done('logOut', 'Ends a login.'),
  },
}
