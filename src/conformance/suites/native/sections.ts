/** The sections of the native protocol that its rules are about. */
export const SECTIONS = { '1': 'Lines', '2': 'Commands', '3': 'Events' } as const
