export { isUncounted, readCounts } from './counts.ts'
export { codeOfProviderStatus, codeOfProviderText } from './provider-errors.ts'
export { isDropped } from './tools.ts'
