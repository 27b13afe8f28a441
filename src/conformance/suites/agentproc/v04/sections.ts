/** The sections of AgentProc 0.4 that its rules are about. */
export const SECTIONS = { '1': 'Turn (stdin)', '2': 'Events (stdout)', '3': 'Permission', '4': 'Exit' } as const
