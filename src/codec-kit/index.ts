export { codeOfProviderStatus, codeOfProviderText } from './provider-errors.ts'
