/** The sections of zot RPC that its rules are about. */
export const SECTIONS = {
  '2': 'Process model',
  '3': 'Flags',
  '4': 'Auth',
  '5': 'Wire format',
  '5.2': 'Commands',
  '5.3': 'Events',
  '5.4': 'Message shape',
  '11': 'Versioning',
} as const
