/* The client library, `@hookline/client`. It has no dependencies. */
export { Analytics, type CloseOptions } from './analytics.ts'
export type {
  Alias,
  CommonFields,
  Fields,
  Group,
  Id,
  Identify,
  Page,
  Screen,
  Track,
  UserFields,
} from './call-types.ts'
export type { Counts } from './counts.ts'
export { Closed, ConfigError, FieldError, MessageTooLarge, QueueFull } from './errors.ts'
export type { Failure, FailureReason } from './failure.ts'
export type { AnalyticsOptions, OnFull, QueueOptions, TransportOptions } from './options.ts'
export type { Transport } from './transport.ts'
