/** The sections of the Chat Completions API reference that its rules are about. */
export const SECTIONS = {
  '1': 'Create chat completion',
  '2': 'The chat completion object',
  '3': 'The chat completion chunk object',
  '4': 'Function calling',
  '5': 'Error codes',
  '6': 'Models',
} as const
