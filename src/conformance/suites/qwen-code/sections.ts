/** The sections of Qwen Code as it ships that its rules are about. */
export const SECTIONS = { '1': 'Output lines', '2': 'Input lines', '3': 'Control channel', '4': 'Lifetime' } as const
