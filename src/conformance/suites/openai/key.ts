/** The key of a caller's environment as a header, as clients of this API send it. */
export function bearer({ OPENAI_API_KEY: key }: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return key ? { authorization: `Bearer ${key}` } : {}
}
