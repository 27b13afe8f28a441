/** The sections of the Responses API reference that its rules are about. */
export const SECTIONS = {
  '1': 'Create a model response',
  '2': 'The response object',
  '3': 'Streaming events',
  '4': 'Function calling',
  '5': 'Error codes',
  '6': 'Conversation state',
  '7': 'Get, list the input of, and delete a response',
} as const
