const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** True for base64 of the standard alphabet (RFC 4648, section 4), with or without its padding, and not empty. */
export function isBase64(text: string): boolean {
  return text !== '' && BASE64.test(text)
}
