import * as z from 'zod'
import { CHOICES } from './choices.ts'
import { parseDuration, parseSize } from './duration.ts'
import { TEXTS } from './texts.ts'

/**
 * The schema of the written file, before anything is resolved. Messages complete a sentence that begins with the path.
 * An agent's entry is open, because its codec's keys are not known here.
 */

/** Separates the known keys in the message of an unknown key: zod does not list the keys of an object. */
export const KEY_SEPARATOR = ' '

/** An object without other keys. */
function table<S extends z.core.$ZodLooseShape>(shape: S) {
  const known = Object.keys(shape).join(KEY_SEPARATOR)
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? known : undefined) })
}

/** A value that `read` understands, from `least` on. */
function quantity(read: (value: unknown) => number | undefined, least: number, expected: string) {
  return z.unknown().transform((value, context) => {
    const amount = read(value)
    if (amount !== undefined && amount >= least) return amount
    context.addIssue({ code: 'custom', message: expected })
    return z.NEVER
  })
}

const TIME = 'must be a time up to 24d, such as 500ms, 30s, 10m, 2h or a number of milliseconds'
const time = quantity(parseDuration, 1, `${TIME}, and not 0`)
const timeOrZero = quantity(parseDuration, 0, TIME)
const size = quantity(parseSize, 1, 'must be a size, such as 16MiB, 10KiB, 5MB or a number of bytes, and not 0')

const whole = (min: number, max: number) => z.int().min(min).max(max)
const flag = z.boolean()
const share = z.number().min(0).max(1)

const text = z.string().refine(TEXTS.some, 'must not be empty')
const url = z.string().refine(TEXTS.url, 'must be an http or https URL')
const database = z.string().refine(TEXTS.database, 'must be a URL such as postgres://user@host:5432/database')
const origin = z
  .string()
  .refine(
    (value) => URL.canParse(value) && new URL(value).origin === value,
    'must be an origin, such as https://app.example',
  )
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a valid header name')
const headers = z.record(headerName, z.string().refine(TEXTS.line, 'must be one line'))
const variable = z.string().regex(/^[^=\0]+$/, 'is not a valid name of an environment variable')
const variables = z.record(variable, z.string().refine(TEXTS.variable, 'must not hold a NUL'))
const agentName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'is not a valid agent name: use letters, digits, ".", "_" and "-"')

const LIMITS = {
  start: time,
  firstEvent: time,
  idle: time,
  total: time,
  ask: time,
  grace: timeOrZero,
  line: size,
  body: size,
  answer: size,
}

const limits = table({
  ...z.object(LIMITS).partial().shape,
  queue: whole(0, 1_000_000).optional(),
})

/** The keys of an agent that do not belong to its codec. */
export const agentSchema = z.looseObject({
  protocol: text,
  command: text.optional(),
  args: z.array(z.string()).optional(),
  cwd: text.optional(),
  workspaces: z.array(text).min(1, 'must not be empty').optional(),
  clientMcpServers: z.boolean().optional(),
  env: variables.optional(),
  inherit: z.array(text).optional(),
  profile: text.optional(),
  url: url.optional(),
  headers: headers.optional(),
  pool: table({
    warm: whole(0, 1000).default(0),
    max: whole(1, 1000).default(8),
    total: whole(1, 1_000_000).optional(),
    idle: time.default(600_000),
    sessions: whole(1, 1000).optional(),
  })
    .refine(({ warm, max }) => warm <= max, { path: ['warm'], message: 'must not be more than max' })
    .prefault({}),
  limits: limits.optional(),
  wrap: z.array(text).min(1, 'must not be empty').optional(),
  resources: table({
    memory: size.optional(),
    cpu: quantity(parseDuration, 1000, `${TIME}, and at least 1s`).optional(),
    files: whole(3, 1_000_000).optional(),
    processes: whole(1, 1_000_000).optional(),
    fileSize: size.optional(),
  }).optional(),
  placement: z.array(text).min(1, 'must not be empty').optional(),
  restore: z.enum(CHOICES.restore).default('fresh'),
  breaker: table({ failures: whole(1, 1000).default(5), cooldown: time.default(15_000) }).prefault({}),
  health: table({ every: time, timeout: time.default(5_000) }).optional(),
})

/** The names of these keys. */
export const AGENT_KEYS: readonly string[] = Object.keys(agentSchema.shape)

const key = table({
  name: text,
  role: z.enum(CHOICES.role).default('user'),
  env: text.optional(),
  hash: z
    .string()
    .regex(/^(sha256:)?[0-9a-f]{64}$/i, 'must be the SHA-256 of the key as 64 hexadecimal digits')
    .toLowerCase()
    .transform((hash) => hash.replace('sha256:', ''))
    .optional(),
  agents: z.array(text).optional(),
  fronts: z.array(text).optional(),
  limits: table({
    perMinute: whole(1, 1_000_000).optional(),
    burst: whole(1, 1_000_000).optional(),
    turns: whole(1, 1_000_000).optional(),
    tokensPerDay: whole(1, 1_000_000_000_000).optional(),
    usdPerDay: z.number().positive().max(1_000_000).optional(),
  })
    .refine(({ burst, perMinute }) => burst === undefined || perMinute !== undefined, {
      path: ['burst'],
      message: 'needs perMinute as well',
    })
    .optional(),
}).refine(({ env, hash }) => (env === undefined) !== (hash === undefined), {
  message: 'needs either env (the variable that holds the key) or hash (the SHA-256 of the key)',
})

const socket = z.unknown().transform((value, context) => {
  if (value === false || value === 'false') return false
  if (typeof value === 'string' && value !== '') return value
  context.addIssue({ code: 'custom', message: 'must be a path, or false for none' })
  return z.NEVER
})

const server = table({
  host: text.default('127.0.0.1'),
  port: whole(0, 65_535).default(8484),
  keys: z.array(key).default([]),
  console: flag.default(true),
  socket: socket.optional(),
  hosts: z.array(text).optional(),
  origins: z.array(origin).optional(),
  limits: table({
    headers: time.default(20_000),
    body: time.default(120_000),
    keepAlive: time.default(5000),
    connections: whole(1, 1_000_000).default(10_000),
  }).prefault({}),
})

const secretOfVariable = table({ env: text })

const cluster = table({
  address: url.optional(),
  secret: z.union([secretOfVariable, z.array(secretOfVariable).min(1, 'must not be empty')]).optional(),
  lease: quantity(parseDuration, 4000, `${TIME}, and at least 4s`).default(8000),
  labels: z.array(text).default([]),
})

const route = table({
  when: table({
    front: text.optional(),
    channel: text.optional(),
    agent: text.optional(),
    session: text.optional(),
    principal: text.optional(),
    model: text.optional(),
  }).prefault({}),
  agent: text,
  fallback: z.array(text).default([]),
  approvals: z.enum(CHOICES.approvals).default('deny'),
  loss: z.enum(CHOICES.loss).default('report'),
  journal: z.enum(CHOICES.journal).default('full'),
  secrets: z.enum(CHOICES.secrets).default('keep'),
  busy: z.enum(CHOICES.busy).default('queue'),
  history: z.enum(CHOICES.history).default('resume'),
  onDisconnect: z.enum(CHOICES.onDisconnect).optional(),
  limits: limits.optional(),
})

/** The whole file. */
export const fileSchema = table({
  server: server.prefault({}),
  default: text.optional(),
  agents: z.record(agentName, agentSchema).default({}),
  limits: limits.optional(),
  routes: z.array(route).default([]),
  store: table({
    kind: z.enum(CHOICES.store).default('sqlite'),
    path: text.default('./data/turnpike.db'),
    url: database.optional(),
    password: text.optional(),
    ca: text.optional(),
    schema: text.default('turnpike'),
    retention: time.default(604_800_000),
  })
    .refine(({ kind, url }) => (kind === 'postgres') === (url !== undefined), {
      path: ['url'],
      message: 'is needed with kind: postgres, and only with it',
    })
    .refine(({ kind, password, ca }) => kind === 'postgres' || (password ?? ca) === undefined, {
      path: ['kind'],
      message: 'must be postgres for a store with password or ca',
    })
    .prefault({}),
  cluster: cluster.optional(),
  telemetry: table({
    otlp: url.optional(),
    headers: headers.optional(),
    content: flag.default(false),
    metrics: flag.default(true),
    logs: flag.optional(),
    protocol: z.enum(CHOICES.otlp).optional(),
    sample: share.optional(),
    traces: url.optional(),
  }).optional(),
  log: table({ level: z.enum(CHOICES.level).default('info'), pretty: flag.optional() }).prefault({}),
})

/** The file after validation. */
export type FileShape = z.output<typeof fileSchema>
/** An agent's entry after validation; it contains the keys of its codec as written. */
export type AgentEntry = z.output<typeof agentSchema>
