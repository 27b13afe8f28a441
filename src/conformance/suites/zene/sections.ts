/** The sections of Zene Host Protocol v1 that its rules are about. */
export const SECTIONS = {
  '1': 'Design goals',
  '2': 'Transport Rules',
  '3': 'Request Schema',
  '4': 'Response Schema',
  '5': 'Validation Rules',
  '6': 'Error Code Set',
  '7': 'Timeouts and Lifecycle',
  '8': 'Exit Code Semantics',
} as const
