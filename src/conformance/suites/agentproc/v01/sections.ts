/** The sections of AgentProc 0.1 that its rules are about. */
export const SECTIONS = {
  '2.1': 'Core',
  '2.3': 'Attachments (multi)',
  '2.4': 'stdin',
  '3': 'Output — stdout Protocol',
  '3.1': 'Session line',
  '3.2': 'Partial lines',
  '3.3': 'Error lines',
  '4': 'Exit Codes',
  '5': 'Timeout Handling',
} as const
