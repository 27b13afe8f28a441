/** The sections of OpenHarness v1 that its rules are about. */
export const SECTIONS = {
  '3': 'Versioning',
  '4': 'Forward compatibility',
  '5.1': 'Request',
  '5.2': 'Response',
  '5.3': 'Capabilities',
  '7': 'Authentication',
  '8': 'Privacy',
  '9': 'Context',
  '9.1': 'Attachments',
  '10': 'Action directives',
  '13': 'Errors',
} as const
