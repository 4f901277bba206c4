import type { LogField } from '../logging/log-fields.ts'

/**
 * The fields of an audit line. Do not spread another object into them: TypeScript does not check
 * its field names, and the log masks fields whose name is not a `LogField`.
 */
export type AuditFields = { readonly [Name in LogField]?: unknown }

/** Writes one audit line about a change by an operator, whatever the log level is. */
export type AuditLog = (fields: AuditFields) => void
