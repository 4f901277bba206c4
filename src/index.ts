/* The library, `import { Analytics } from 'hookline'`. It needs nothing but Node. */
export { Analytics, type CloseOptions } from './client/analytics.ts'
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
} from './client/calls.ts'
export type { Counts } from './client/counts.ts'
export { Closed, ConfigError, FieldError, MessageTooLarge, QueueFull } from './client/errors.ts'
export type { Failure, FailureReason } from './client/failure.ts'
export type { AnalyticsOptions, OnFull, QueueOptions, TransportOptions } from './client/options.ts'
export type { Transport } from './client/transport.ts'
