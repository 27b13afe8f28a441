import { describe, expect, it } from 'vitest'
import { linesOf, parse, problemsOf } from './codecs.ts'

const KEYS = {
  KEY_EMPTY: ' ',
  KEY_1: 'one-secret',
  KEY_2: 'two-secret',
  KEY_LINE: 'of-a-file\n',
  KEY_UMLAUT: 'schlüssel',
  KEY_WORDS: 'three words here',
}
const AGENT = 'agents:\n  a: { protocol: zot, command: zot }\n'

/** Every file with all lines of its refusal. */
const BAD: readonly (readonly [name: string, text: string, ...lines: string[]])[] = [
  [
    'an unknown key of an agent',
    'agents:\n  coder:\n    protocol: zot\n    comand: zot\n    command: zot\n',
    'turnpike.yaml:4:5 agents.coder.comand: unknown key; did you mean "command"?',
  ],
  [
    'an unknown key near one of the codec',
    'agents:\n  coder: { protocol: zot, command: zot, tokn: x }\n',
    'turnpike.yaml:2:41 agents.coder.tokn: unknown key; did you mean "token"?',
  ],
  [
    'a key of another codec',
    'agents:\n  coder: { protocol: zot, command: zot, stdin: message }\n',
    'turnpike.yaml:2:41 agents.coder.stdin: unknown key; known: protocol, command, args, cwd, workspaces, clientMcpServers, env, inherit, profile, url, headers, pool, limits, wrap, resources, placement, restore, breaker, health, token, retries',
  ],
  [
    'unknown keys at several depths, in the order of their lines',
    'sevrer: { port: 1 }\nserver:\n  hosst: x\nlog: { levle: info }\nroutes:\n  - when: { chanel: x }\n    agent: a\nstore: { kind: sqlite, file: x }\n',
    'turnpike.yaml:1:1 sevrer: unknown key; did you mean "server"?',
    'turnpike.yaml:3:3 server.hosst: unknown key; did you mean "host"?',
    'turnpike.yaml:4:8 log.levle: unknown key; did you mean "level"?',
    'turnpike.yaml:6:13 routes[0].when.chanel: unknown key; did you mean "channel"?',
    'turnpike.yaml:8:24 store.file: unknown key; known: kind, path, url, password, ca, schema, retention',
  ],
  [
    'a key that every object has',
    '__proto__: { a: 1 }\nagents:\n  __proto__: { protocol: zot, command: zot }\n  a: { env: { "__proto__": x } }\n',
    'turnpike.yaml:1:1: "__proto__" is no key',
    'turnpike.yaml:3:3: "__proto__" is no key',
    'turnpike.yaml:4:15: "__proto__" is no key',
  ],
  ['a key that is no text', '? [sk-secret]\n: 1\n', 'turnpike.yaml:1:3: a key that is a table or a list'],
  ['no table', '- a\n- b\n', 'turnpike.yaml:1:1: must be a table of keys and values'],
  ['an empty section', 'agents:\n', 'turnpike.yaml:1:8 agents: is empty: it must be a table of keys and values'],
  [
    'wrong syntax',
    'server: { port: 1\nlog: x\n',
    'turnpike.yaml:2:1: Flow map in block collection must be sufficiently indented and end with a }',
  ],
  ['a key that is there twice', 'default: a\ndefault: b\n', 'turnpike.yaml:2:1: Map keys must be unique'],
  [
    'two documents',
    'default: a\n---\ndefault: b\n',
    'turnpike.yaml:2:1: a second document begins here; a configuration is one, without a line "---" in it',
  ],
  [
    'values of the wrong type',
    'server: { port: http, host: 5 }\nagents:\n  a: { protocol: zot, command: zot, args: x, env: { N: 1.10, B: true }, pool: 3 }\nroutes: {}\ntelemetry: { content: maybe, metrics: often, logs: yes, protocol: grpc }\n',
    'turnpike.yaml:1:17 server.port: must be a number',
    'turnpike.yaml:1:29 server.host: must be text; write it in quotes',
    'turnpike.yaml:3:43 agents.a.args: must be a list',
    'turnpike.yaml:3:56 agents.a.env.N: must be text; write it in quotes',
    'turnpike.yaml:3:65 agents.a.env.B: must be text; write it in quotes',
    'turnpike.yaml:3:79 agents.a.pool: must be a table of keys and values',
    'turnpike.yaml:4:1 routes: must be a list',
    'turnpike.yaml:5:23 telemetry.content: must be true or false',
    'turnpike.yaml:5:39 telemetry.metrics: must be true or false',
    'turnpike.yaml:5:52 telemetry.logs: must be true or false',
    'turnpike.yaml:5:67 telemetry.protocol: must be one of http/json, http/protobuf',
  ],
  [
    'values out of range',
    'server: { port: 70000 }\ntelemetry: { sample: 2 }\nlimits: { queue: -1, total: 0, line: 0, grace: 30 days, idle: 25d }\n',
    'turnpike.yaml:1:17 server.port: must be at most 65535',
    'turnpike.yaml:2:22 telemetry.sample: must be at most 1',
    'turnpike.yaml:3:18 limits.queue: must be at least 0',
    'turnpike.yaml:3:29 limits.total: must be a time up to 24d, such as 500ms, 30s, 10m, 2h or a number of milliseconds, and not 0',
    'turnpike.yaml:3:38 limits.line: must be a size, such as 16MiB, 10KiB, 5MB or a number of bytes, and not 0',
    'turnpike.yaml:3:48 limits.grace: must be a time up to 24d, such as 500ms, 30s, 10m, 2h or a number of milliseconds',
    'turnpike.yaml:3:63 limits.idle: must be a time up to 24d, such as 500ms, 30s, 10m, 2h or a number of milliseconds, and not 0',
  ],
  [
    'choices that there are not',
    `${AGENT}routes:\n  - { agent: a, approvals: dney, loss: none }\nlog: { level: verbose }\nstore: { kind: redis }\n`,
    'turnpike.yaml:4:28 routes[0].approvals: must be one of deny, allow; did you mean "deny"?',
    'turnpike.yaml:4:40 routes[0].loss: must be one of report, strict',
    'turnpike.yaml:5:15 log.level: must be one of silent, error, warn, info, debug',
    'turnpike.yaml:6:16 store.kind: must be one of sqlite, postgres',
  ],
  ['a route without an agent', 'routes:\n  - when: { front: zot }\n', 'turnpike.yaml:2:5 routes[0].agent: is missing'],
  ['an agent without a protocol', 'agents:\n  a: { command: x }\n', 'turnpike.yaml:2:3 agents.a.protocol: is missing'],
  [
    'an agent that is no table',
    'agents:\n  a: zot\n',
    'turnpike.yaml:2:6 agents.a: must be a table of keys and values',
  ],
  [
    'a name that is none of an agent',
    'agents:\n  "a/b": { protocol: zot, command: zot }\n',
    'turnpike.yaml:2:3 agents.a/b: is not a valid agent name: use letters, digits, ".", "_" and "-"',
  ],
  [
    'an unknown protocol',
    'agents:\n  a: { protocol: zto, command: x }\n',
    'turnpike.yaml:2:18 agents.a.protocol: unknown protocol "zto"; did you mean "zot"?',
  ],
  [
    'an unknown protocol, near none',
    'agents:\n  a: { protocol: telnet, command: x }\n',
    'turnpike.yaml:2:18 agents.a.protocol: unknown protocol "telnet"; known: agentproc, zot, qwen, openharness',
  ],
  [
    'an unknown dialect',
    'agents:\n  a: { protocol: agentproc@2, command: x }\n',
    'turnpike.yaml:2:18 agents.a.protocol: agentproc has no dialect "2"; known: 0.1, 0.4',
  ],
  [
    'neither command nor url',
    'agents:\n  a: { protocol: zot }\n  b: { protocol: agentproc }\n',
    'turnpike.yaml:2:3 agents.a: has neither a command nor a url; give command for a process, or url for an HTTP agent',
    'turnpike.yaml:3:3 agents.b: has neither a command nor a url; give command (or profile) for a process, or url for an HTTP agent',
  ],
  [
    'both command and url',
    'agents:\n  a: { protocol: zot, command: x, url: "http://x" }\n',
    'turnpike.yaml:2:3 agents.a: has both a command and a url; give command for a process, or url for an HTTP agent',
  ],
  [
    'a program in place of a server, and a server in place of a program',
    'agents:\n  a: { protocol: openharness, command: x }\n  b: { protocol: qwen, url: "http://x" }\n',
    'turnpike.yaml:2:31 agents.a.command: agents of openharness are servers; give url instead',
    'turnpike.yaml:3:24 agents.b.url: agents of qwen are programs; give command instead',
  ],
  [
    'keys of the other kind',
    'agents:\n  a: { protocol: zot, command: x, headers: {} }\n  b: { protocol: zot, url: "http://x", args: [], env: {} }\n',
    'turnpike.yaml:2:35 agents.a.headers: belongs to an HTTP agent (url); remove it',
    'turnpike.yaml:3:40 agents.b.args: belongs to a process agent (command); remove it',
    'turnpike.yaml:3:50 agents.b.env: belongs to a process agent (command); remove it',
  ],
  [
    'a profile of another protocol',
    'agents:\n  a: { protocol: zot, profile: x.yaml }\n',
    'turnpike.yaml:2:23 agents.a.profile: belongs to an agent with protocol agentproc',
  ],
  [
    'a profile that is not there',
    'agents:\n  a: { protocol: agentproc, profile: x.yaml }\n',
    'turnpike.yaml:2:38 agents.a.profile: cannot be read (ENOENT); give the path of a profile, relative to the folder of this file',
  ],
  [
    'urls, headers and variables that are none',
    'agents:\n  a: { protocol: zot, url: "ftp://x", headers: { "a b": c, d: "e\\nf" } }\n  b: { protocol: zot, command: x, env: { "A=B": c, D: "\\0" } }\ntelemetry: { otlp: localhost }\n',
    'turnpike.yaml:2:28 agents.a.url: must be an http or https URL',
    'turnpike.yaml:2:50 agents.a.headers.a b: is not a valid header name',
    'turnpike.yaml:2:63 agents.a.headers.d: must be one line',
    'turnpike.yaml:3:42 agents.b.env.A=B: is not a valid name of an environment variable',
    'turnpike.yaml:3:55 agents.b.env.D: must not hold a NUL',
    'turnpike.yaml:4:20 telemetry.otlp: must be an http or https URL',
  ],
  [
    'several sessions in a process of a protocol that has one',
    'agents:\n  a: { protocol: zot, command: x, pool: { sessions: 2 } }\n',
    'turnpike.yaml:2:43 agents.a.pool.sessions: agents of zot serve one session in a process; remove it',
  ],
  [
    'more warm processes than there may be',
    'agents:\n  a: { protocol: zot, command: x, pool: { warm: 9 } }\n',
    'turnpike.yaml:2:49 agents.a.pool.warm: must not be more than max',
  ],
  [
    "what the codec's schema refuses",
    'agents:\n  a:\n    protocol: zot\n    command: x\n    retries: many\n    token: { file: x }\n',
    'turnpike.yaml:5:14 agents.a.retries: Invalid type: Expected number but received another text',
    'turnpike.yaml:6:5 agents.a.token.env: Invalid key: Expected "env" but received undefined',
    'turnpike.yaml:6:20 agents.a.token.file: Invalid key: Expected never but received "file"',
  ],
  [
    'agents that do not exist',
    `default: b\n${AGENT}routes:\n  - { agent: coder, fallback: [a, aa] }\n`,
    'turnpike.yaml:1:10 default: unknown agent "b"; did you mean "a"?',
    'turnpike.yaml:5:14 routes[0].agent: unknown agent "coder"; known: a',
    'turnpike.yaml:5:35 routes[0].fallback[1]: unknown agent "aa"; did you mean "a"?',
  ],
  [
    'a default without any agent',
    'default: helper\n',
    'turnpike.yaml:1:10 default: unknown agent "helper"; there are none',
  ],
  [
    'a front that does not exist',
    `${AGENT}routes:\n  - { agent: a, when: { front: zoot } }\n  - { agent: a, when: { front: "z*" } }\n`,
    'turnpike.yaml:4:32 routes[0].when.front: unknown protocol "zoot"; did you mean "zot"?',
  ],
  [
    'an open host without keys',
    'server:\n  host: 0.0.0.0\n',
    'turnpike.yaml:2:9 server.host: is reachable from other machines, but there are no keys; add server.keys: [{ name: NAME, env: VARIABLE_WITH_THE_KEY }], or listen on 127.0.0.1',
  ],
  [
    'keys that cannot be used',
    'server:\n  keys:\n    - { name: a, env: KEY_A }\n    - { name: b, env: KEY_B }\n    - { name: c }\n    - { name: d, env: KEY_A, hash: 12 }\n',
    'turnpike.yaml:5:7 server.keys[2]: needs either env (the variable that holds the key) or hash (the SHA-256 of the key)',
    'turnpike.yaml:6:36 server.keys[3].hash: must be text; write it in quotes',
  ],
  [
    'variables of keys that are not set',
    'server:\n  keys:\n    - { name: a, env: KEY_A }\n    - { name: b, env: KEY_EMPTY }\n',
    'turnpike.yaml:3:23 server.keys[0].env: the environment variable KEY_A is not set; set it to the key: export KEY_A=KEY',
    'turnpike.yaml:4:23 server.keys[1].env: the environment variable KEY_EMPTY is empty; set it to the key: export KEY_EMPTY=KEY',
  ],
  [
    'keys that no client can send',
    'server:\n  keys:\n    - { name: a, env: KEY_LINE }\n    - { name: b, env: KEY_UMLAUT }\n    - { name: c, env: KEY_WORDS }\n',
    'turnpike.yaml:3:23 server.keys[0].env: a client cannot send the value of KEY_LINE as a key; remove white space at its ends (often a line end) and characters other than ASCII',
    'turnpike.yaml:4:23 server.keys[1].env: a client cannot send the value of KEY_UMLAUT as a key; remove white space at its ends (often a line end) and characters other than ASCII',
  ],
  [
    'keys that are not told apart',
    'server:\n  keys:\n    - { name: a, env: KEY_1 }\n    - { name: a, env: KEY_2 }\n    - { name: b, env: KEY_2, agents: [x, "y*"] }\n',
    'turnpike.yaml:4:15 server.keys[1].name: another key has this name; give each client its own',
    'turnpike.yaml:5:15 server.keys[2].name: has the same key as "a"; give each client its own',
    'turnpike.yaml:5:39 server.keys[2].agents[0]: unknown agent "x"; there are none',
  ],
  [
    'keys with rights and limits that mean nothing',
    'server:\n  keys:\n    - { name: local, env: KEY_1, fronts: [zoot, "z*"] }\n    - { name: b, env: KEY_2, limits: { burst: 5, turns: 0 } }\n',
    'turnpike.yaml:4:47 server.keys[1].limits.burst: needs perMinute as well',
    'turnpike.yaml:4:57 server.keys[1].limits.turns: must be at least 1',
  ],
  [
    'the name of clients without a key, and a front that does not exist',
    'server:\n  keys:\n    - { name: local, env: KEY_1, fronts: [zoot, "z*"] }\n',
    'turnpike.yaml:3:15 server.keys[0].name: is the name of clients without a key; choose another name',
    'turnpike.yaml:3:43 server.keys[0].fronts[0]: unknown protocol "zoot"; did you mean "zot"?',
  ],
  [
    'origins that are none',
    'server:\n  origins: ["*", "https://app.example/", app.example]\n',
    'turnpike.yaml:2:13 server.origins[0]: must be an origin, such as https://app.example',
    'turnpike.yaml:2:18 server.origins[1]: must be an origin, such as https://app.example',
    'turnpike.yaml:2:42 server.origins[2]: must be an origin, such as https://app.example',
  ],
  [
    'what a process may take, of an agent that is none',
    'agents:\n  a: { protocol: zot, url: "http://x", resources: { files: 2 } }\n  b: { protocol: zot, url: "http://x", wrap: [nice] }\n',
    'turnpike.yaml:2:60 agents.a.resources.files: must be at least 3',
  ],
  [
    'a password and certificates without a server',
    'store: { ca: ./ca.pem }\n',
    'turnpike.yaml:1:1 store.kind: must be postgres for a store with password or ca',
  ],
  [
    'a hash that is none, without showing it',
    'server:\n  keys:\n    - { name: a, hash: my-plain-key }\n',
    'turnpike.yaml:3:24 server.keys[0].hash: must be the SHA-256 of the key as 64 hexadecimal digits',
  ],
]

describe('a bad file is refused with every problem and its place', () => {
  it.each(BAD)('%s', (_, text, ...lines) => {
    expect(linesOf(text, KEYS)).toEqual(lines)
  })

  it('has the parts of a problem for programs', () => {
    expect(problemsOf(() => parse(BAD[0]![1]))).toEqual([
      {
        file: 'turnpike.yaml',
        line: 4,
        column: 5,
        path: 'agents.coder.comand',
        message: 'unknown key',
        hint: 'did you mean "command"?',
      },
    ])
  })

  it.each([
    ['a: *b\n', 'turnpike.yaml:1:4: an alias without its anchor'],
    ['a: &b [*b]\n', 'turnpike.yaml:1:8: an alias of what it is in'],
    [
      `a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [${'*a, '.repeat(9)}]\nc: &c [${'*b, '.repeat(9)}]\nd: [${'*c, '.repeat(9)}]\n`,
      'turnpike.yaml:1:1: too many aliases of aliases',
    ],
  ])('%j', (text, line) => {
    expect(linesOf(text)).toEqual([line])
  })

  it('never shows a piece of a file with wrong syntax', () => {
    const texts = [
      'a: "sk-secret\n',
      'key: sk-secret: x\n',
      'a: [sk-secret\n',
      '@sk-secret\n',
      'a: *sk-secret\n',
      '%sk-secret\n---\n',
      'a: b\n sk-secret\n',
      'a: !sk-secret x\n',
    ]
    for (const text of texts) expect(linesOf(text).join('\n')).not.toContain('sk-secret')
  })

  it('never shows a secret that stands where it should not', () => {
    expect(linesOf('agents:\n  a: { protocol: zot, command: x, token: sk-secret }\n')).toEqual([
      'turnpike.yaml:2:42 agents.a.token: Invalid type: Expected Object but received another text',
    ])
  })
})
