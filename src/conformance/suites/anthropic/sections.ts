/** The sections of the Messages API reference that its rules are about. */
export const SECTIONS = {
  '1': 'Create a Message',
  '2': 'The Message object',
  '3': 'Streaming messages',
  '4': 'Tool use',
  '5': 'Errors',
  '6': 'Count tokens in a Message',
  '7': 'List models',
} as const
