export { digestOf } from './digest.ts'
export { HttpExchange, type RequestHead } from './http-exchange.ts'
export { quickDigest } from './quick-digest.ts'
export { randomId } from './random.ts'
