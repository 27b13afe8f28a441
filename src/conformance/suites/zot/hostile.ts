import type { HostileFacts } from '../../kit/index.ts'

/** The facts of zot RPC that hostile tests need (5 Wire format). */
export const hostile: HostileFacts = {
  prefix: 'zot',
  form: 'objects',
  section: '5 Wire format',
  isLast: (frame) => frame.includes('"type":"done"'),
  agents: { 'garbage-line': 'answer', 'lines-that-are-no-objects': 'answer' },
  turns: {
    many: true,
    request: (id, message) => ({ id, type: 'prompt', message }),
    ids: ['id'],
    cancel: (id) => ({ id, type: 'abort' }),
    unknown: { id: 'u1', type: 'no_such_command' },
    endOf: ({ type, command, success }) =>
      type === 'done' || (type === 'response' && command === 'prompt' && success === false) ? '' : undefined,
  },
}
