/** The pages of the Agent Client Protocol, version 1, that its rules are about, in their order. */
export const SECTIONS = {
  '1': 'Overview',
  '2': 'Initialization',
  '3': 'Session Setup',
  '4': 'Session List',
  '5': 'Prompt Turn',
  '6': 'Tool Calls',
  '7': 'File System and Terminals',
  '8': 'Extensibility',
  '9': 'Transports',
} as const
