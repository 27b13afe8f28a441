// biome-ignore-all lint/suspicious/noTemplateCurlyInString: profiles hold such text

import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import { driveBack } from '../../../kit/drive.ts'
import { callOf, drive } from './calls.ts'

describe('the process of a turn', () => {
  test('a new session', () => {
    const back = drive()
    back.start('hello')
    expect(callOf(back)).toEqual({
      kind: 'process',
      command: 'agent',
      args: [],
      cwd: '/work',
      stdin: 'end',
      env: {
        AGENT_MESSAGE: 'hello',
        AGENT_SESSION_ID: '',
        AGENT_SESSION_NAME: 'default',
        AGENT_FROM_USER: '',
        AGENT_STREAMING: '1',
        AGENT_PROTOCOL_VERSION: '0.1',
      },
    })
    expect(back.sent).toEqual([])
    expect(back.events).toEqual([{ type: 'turn-started', turn: 't1' }])
    expect(back.losses).toEqual([])
  })

  test('a resumed session, its name, the sender, and no streaming', () => {
    const back = drive({}, { streaming: false })
    back.start('hello', {
      session: { id: 's1', bound: 'agent-7', name: 'My chat' },
      ext: { protocol: 'agentproc', json: '{"AGENT_FROM_USER":"alice","AGENT_TEAM":"blue"}' },
    })
    expect(callOf(back).env).toMatchObject({
      AGENT_SESSION_ID: 'agent-7',
      AGENT_SESSION_NAME: 'My chat',
      AGENT_FROM_USER: 'alice',
      AGENT_TEAM: 'blue',
      AGENT_STREAMING: '0',
    })
    expect(back.losses).toEqual([])
  })

  test('without a configured process the backend knows the command', () => {
    const back = driveBack(codec)
    back.start('hello')
    const call = callOf(back)
    expect([call.command, call.args, call.cwd]).toEqual([undefined, undefined, undefined])
    back.link.decodeEnd({ why: 'closed', exitCode: 0 })
    expect(back.events.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'completed' })
  })

  test('a command without args is split on whitespace, before the placeholders are filled', () => {
    const back = driveBack(codec, {
      process: { command: ' python3  {{PROFILE_DIR}}/a.py\t{{MESSAGE}} ', env: {}, cwd: '/work' },
    })
    back.start("two 'words'")
    expect(callOf(back)).toMatchObject({ command: 'python3', args: ['/agents/a.py', "two 'words'"] })
  })

  test('a command with args is one token', () => {
    const back = drive({ command: '/opt/my agent {{SESSION_NAME}}' })
    back.start('hi', { session: { name: 'n' } })
    expect(callOf(back)).toMatchObject({ command: '/opt/my agent n', args: [] })
  })

  test('placeholders are filled once and nothing else is', () => {
    const message = 'a {{SESSION_ID}} b ${HOST} c $& d $$ e $` f'
    const back = drive(
      {
        args: ['--m={{MESSAGE}}', '{{SESSION_ID}}/{{SESSION_NAME}}', '{{FROM_USER}} {{ MESSAGE }} ${HOST} $HOST *'],
        env: { P_MSG: '{{MESSAGE}}', P_KEY: '${HOST}-${NOPE}-$HOST', P_BOTH: '${INNER}' } as Record<string, string>,
        cwd: '{{PROFILE_DIR}}/sub',
      },
      { expand: true },
      { HOST: 'secret', INNER: '{{SESSION_ID}}' },
    )
    back.start(message, { session: { bound: 'sid' } })
    const call = callOf(back)
    expect(call.args).toEqual([`--m=${message}`, 'sid/default', '{{FROM_USER}} {{ MESSAGE }} ${HOST} $HOST *'])
    expect(call.env).toMatchObject({ P_MSG: message, P_KEY: 'secret--$HOST', P_BOTH: 'sid' })
    expect(call.cwd).toBe('/agents/sub')
  })

  test('a folder that was put before {{PROFILE_DIR}} is void', () => {
    const back = drive({ cwd: '/agents/{{PROFILE_DIR}}/sub' })
    back.start('hi')
    expect(callOf(back).cwd).toBe('/agents/sub')
  })

  test('${VAR} stays unless the loader left it unexpanded', () => {
    const back = drive({ env: { KEY: '${HOST}' } as Record<string, string> }, {}, { HOST: 'secret' })
    back.start('hi')
    expect(callOf(back).env?.['KEY']).toBe('${HOST}')
  })

  test('the allow list limits ${VAR} and names what is inherited, never AGENT_ variables', () => {
    const back = drive(
      { env: { A: '${ONE}', B: '${TWO}' } as Record<string, string> },
      { expand: true, env_allowlist: ['ONE', 'NOPE', 'AGENT_IMAGE_URL'] },
      { ONE: '1', TWO: '2', AGENT_IMAGE_URL: 'https://stale.example' },
    )
    back.start('hi')
    const { env } = callOf(back)
    expect(env).toMatchObject({ A: '1', B: '', ONE: '1' })
    expect(Object.keys(env ?? {})).not.toContain('AGENT_IMAGE_URL')
    expect(Object.keys(env ?? {})).not.toContain('TWO')
    expect(Object.keys(env ?? {})).not.toContain('NOPE')
  })

  test("the protocol's variables win over the profile's, the profile's over a client's", () => {
    const env = { AGENT_MESSAGE: 'no', AGENT_FROM_USER: 'no', AGENT_EXTRA: 'profile' } as Record<string, string>
    const back = drive({ env })
    back.start('hi', {
      ext: { protocol: 'agentproc', json: '{"AGENT_EXTRA":"client","AGENT_SESSION_ID":"x","AGENT_FROM_USER":"bob"}' },
    })
    expect(callOf(back).env).toMatchObject({
      AGENT_MESSAGE: 'hi',
      AGENT_FROM_USER: 'bob',
      AGENT_SESSION_ID: '',
      AGENT_EXTRA: 'profile',
    })
  })

  test('what a client may not set is dropped', () => {
    const back = drive()
    back.start('hi', { ext: { protocol: 'agentproc', json: '{"LD_PRELOAD":"x","AGENT_N":1}' } })
    expect(Object.keys(callOf(back).env ?? {})).not.toContain('LD_PRELOAD')
    back.link.decodeEnd({ why: 'closed', exitCode: 0 })
    back.start('hi', { ext: { protocol: 'zot', json: '{"a":1}' } })
    back.link.decodeEnd({ why: 'closed', exitCode: 0 })
    back.start('hi', { ext: { protocol: 'agentproc@0.4', json: '{"other":1}' } })
    expect(back.losses.map(({ kind, item, field }) => [kind, item, field])).toEqual([
      ['dropped', 'ext', 'LD_PRELOAD'],
      ['dropped', 'ext', 'AGENT_N'],
      ['dropped', 'ext', 'zot'],
      ['dropped', 'ext', 'other'],
    ])
  })

  test('the sender of a turn of wire 0.4', () => {
    const back = drive()
    back.start('hi', { ext: { protocol: 'agentproc@0.4', json: '{"from_user":"mira"}' } })
    expect(callOf(back).env?.['AGENT_FROM_USER']).toBe('mira')
  })

  test('a system prompt goes before the message', () => {
    const back = drive()
    back.start('hi', { options: { systemPrompt: 'Be brief.' } })
    expect(callOf(back).env?.['AGENT_MESSAGE']).toBe('System instruction:\nBe brief.\n\nUser message:\nhi')
    expect(back.losses).toEqual([{ kind: 'weakened', item: 'option.systemPrompt', why: 'no-place', count: 1 }])
  })

  test('stdin: message', () => {
    const back = drive({}, { stdin: 'message' })
    back.start('one\ntwo')
    expect(callOf(back).env?.['AGENT_MESSAGE']).toBe('one\ntwo')
    expect(back.sent).toEqual(['one\ntwo'])
  })
})
