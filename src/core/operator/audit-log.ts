import type { LogField } from '../logging/redact-log-fields.ts'

/**
 * The fields of an audit line. Write each field, without a spread: TypeScript does not check the
 * names of spread fields, and the log masks fields whose name is not a `LogField`.
 */
export type AuditFields = { readonly [Name in LogField]?: unknown }

/** Writes one audit line about a change by an operator, whatever the log level is. */
export type AuditLog = (fields: AuditFields) => void
