/** The rules for texts of the file. */
export const TEXTS = {
  any: (_text: string): boolean => true,
  /** Not empty. */
  some: (text: string): boolean => text !== '',
  /** The value of a header. */
  line: (text: string): boolean => !/[\r\n\0]/.test(text),
  /** The value of an environment variable. */
  variable: (text: string): boolean => !text.includes('\0'),
  /** Of an HTTP server. */
  url: (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text),
  /** Of a PostgreSQL database. */
  database: (text: string): boolean => /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text),
} as const
