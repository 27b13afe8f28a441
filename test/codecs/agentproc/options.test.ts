import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/agentproc/index.ts'

describe('options', () => {
  const validate = (options: unknown) => codec.options.schema['~standard'].validate(options)

  test('defaults', () => {
    expect(validate({})).toEqual({
      typed: true,
      value: {
        stdin: 'none',
        timeout_secs: 1800,
        kill_grace_secs: 5,
        include_stderr_in_reply: false,
        send_error_reply: true,
        streaming: true,
        session_line_prefix: 'AGENT_SESSION:',
        permission: false,
        expand: false,
      },
    })
  })

  test.each([
    [{ timeout_secs: '1.5' }, 1.5],
    [{ timeout_secs: 0 }, 0],
  ])('%j', (options, seconds) => {
    expect(validate(options)).toMatchObject({ value: { timeout_secs: seconds } })
  })

  test.each([
    { stdin: 'pipe' },
    { timeout_secs: -1 },
    { timeout_secs: 'soon' },
    { max_reply_chars: 0 },
    { max_reply_chars: 1.5 },
    { session_line_prefix: '' },
    { env_allowlist: 'PATH' },
    { streaming: 'yes' },
  ])('%j is refused', (options) => {
    expect(validate(options)).toHaveProperty('issues')
  })

  test('every key is listed', () => {
    expect([...codec.options.keys].sort()).toEqual([
      'env_allowlist',
      'expand',
      'include_stderr_in_reply',
      'kill_grace_secs',
      'max_reply_chars',
      'permission',
      'send_error_reply',
      'session_line_prefix',
      'stdin',
      'streaming',
      'timeout_secs',
      'truncation_suffix',
    ])
  })
})
