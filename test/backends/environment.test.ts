import { expect, test } from 'vitest'
import {
  type AgentVariables,
  agentEnvironment,
  type CallVariables,
  processEnvironment,
} from '../../src/backends/environment.ts'

const none: AgentVariables & CallVariables = {
  host: {},
  inherit: [],
  configured: {},
  env: {},
  trace: {},
  cookie: 'c.1.',
}

function environment(sources: Partial<AgentVariables & CallVariables>): Record<string, string> {
  const all = { ...none, ...sources }
  return processEnvironment(agentEnvironment(all), all)
}

test('of the gateway only the minimal set is passed on', () => {
  const minimal = {
    PATH: '/bin',
    HOME: '/home/a',
    USER: 'a',
    LOGNAME: 'a',
    SHELL: '/bin/sh',
    LANG: 'C',
    LC_ALL: 'C',
    LC_TIME: 'C',
    TERM: 'dumb',
    TMPDIR: '/tmp',
    TZ: 'UTC',
  }
  const host = { ...minimal, SECRET: 's', NODE_OPTIONS: '--x', PATHS: 'p', AGENT_MESSAGE: 'm', HOSTNAME: undefined }
  expect(environment({ host })).toStrictEqual({ ...minimal, TURNPIKE_COOKIE: 'c.1.' })
})

test('named variables are inherited, those of a turn never', () => {
  const host = {
    KEY: 'k',
    OTHER: 'o',
    AGENT_MESSAGE: 'old',
    TRACEPARENT: 'old',
    TRACESTATE: 'old',
    BAGGAGE: 'old',
    TURNPIKE_COOKIE: 'old',
  }
  expect(environment({ host, inherit: Object.keys(host).filter((name) => name !== 'OTHER') })).toStrictEqual({
    KEY: 'k',
    TURNPIKE_COOKIE: 'c.1.',
  })
})

test('configured variables win over inherited ones, those of the call over both', () => {
  const host = { PATH: 'host', HOME: 'host', LANG: 'host' }
  const configured = { PATH: 'configured', HOME: 'configured', AGENT_X: 'configured' }
  expect(environment({ host, configured, env: { PATH: 'call' } })).toStrictEqual({
    PATH: 'call',
    HOME: 'configured',
    LANG: 'host',
    AGENT_X: 'configured',
    TURNPIKE_COOKIE: 'c.1.',
  })
})

test('trace context and cookie win over everything', () => {
  const trace = { traceparent: '00-a-b-01', tracestate: 'x=y', baggage: 'k=v' }
  const configured = { TRACEPARENT: 'configured', TURNPIKE_COOKIE: 'configured' }
  expect(environment({ configured, trace })).toStrictEqual({
    TRACEPARENT: '00-a-b-01',
    TRACESTATE: 'x=y',
    BAGGAGE: 'k=v',
    TURNPIKE_COOKIE: 'c.1.',
  })
})
