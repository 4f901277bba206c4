import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { parseTimestamp } from '../message/timestamp.ts'
import { classifyAddress, parseCidr } from '../network/allowed-addresses.ts'
import { refuseUrl } from '../network/url.ts'
import { Secret } from '../secret.ts'
import { parseDuration } from '../time.ts'

/** Sets the error message for a value of a wrong type, not for a missing value. */
export const withMessage = (message: string) => ({
  error: ({ code, input }: z.core.$ZodRawIssue): string | undefined =>
    (code !== 'invalid_type' && code !== 'invalid_union') || input === undefined || input === null
      ? undefined
      : message,
})

/**
 * Creates the check of one value. `refuse` returns the error message, or `undefined` for an allowed
 * value.
 */
export const unlessRefused =
  (refuse: (value: string) => string | undefined) =>
  (value: string, context: z.RefinementCtx): void => {
    const message = refuse(value)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  }

export const text = z.string().min(1)

export const secretText = text.transform(value => new Secret(value))

/** One value, or two during a rotation. */
export const oneOrTwo = <T extends z.ZodType>(value: T) => z.union([value, z.array(value).min(1).max(2)])

/** One value, or up to three while senders change to a new one. */
export const oneToThree = <T extends z.ZodType>(value: T) =>
  z.union([value, z.array(value).min(1).max(3)], {
    error: ({ input }) => {
      if (input === undefined || input === null) return undefined
      if (input === '') return 'must not be empty'
      return Array.isArray(input) && input.length > 3
        ? 'must have one to three entries'
        : 'must be text, or a list of one to three texts'
    },
  })

export const fileName = text

/** The value of a header, or the name of a file that contains it. */
export const textOrFile = z.union([z.string(), z.strictObject({ file: fileName })], {
  error: ({ input }) => {
    if (input === undefined || input === null) return undefined
    if (typeof input === 'number') return 'must be text, not a number'
    if (typeof input === 'boolean') return 'must be text, not true or false'
    return 'must be text, or a mapping { file: NAME } without other keys'
  },
})

/**
 * Id of a source, destination or webhook. Ids that begin with `hookline.` are reserved for
 * Hookline.
 */
export const id = z.string().regex(/^(?!hookline\.)[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, {
  error: issue =>
    String(issue.input).startsWith('hookline.')
      ? 'must not begin with "hookline.", because Hookline reserves these ids'
      : 'must be 1 to 63 letters, digits, ".", "_" or "-", and begin with a letter or digit',
})

const durationText = 'must be a duration such as 500ms, 5s, 1m or 4h'
export const duration = z
  .string(withMessage(durationText))
  .regex(/^\d{1,9}(ms|s|m|h)$/, durationText)
  .transform(value => parseDuration(value)!)

const timeText = 'must be a time in ISO 8601 such as 2026-12-31T18:00:00Z'
/** A time in ISO 8601, as milliseconds since 1970. */
export const time = z
  .string(withMessage(timeText))
  .superRefine(unlessRefused(value => (parseTimestamp(value) === undefined ? timeText : undefined)))
  .transform(value => parseTimestamp(value)!)

export const count = z.int().min(1)

export const port = z.int().min(1).max(65_535)

export const httpUrl = z.string().superRefine(unlessRefused(refuseUrl))

const hostPortPattern = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]@]+)):(\d{1,5})$/

export function parseHostPort(value: string): { host: string; port: number } | undefined {
  const [, v6, name, digits] = hostPortPattern.exec(value) ?? []
  const host = v6 ?? name
  if (host === undefined || (v6 !== undefined && !ipaddr.IPv6.isValid(v6)) || Number(digits) > 65_535) return undefined
  return { host, port: Number(digits) }
}

const brokerText = 'must be host:port, for example kafka:9092'
export const broker = z
  .string(withMessage(brokerText))
  .superRefine(unlessRefused(value => ((parseHostPort(value)?.port ?? 0) > 0 ? undefined : brokerText)))

const listenText = 'must be host:port, for example 0.0.0.0:8080 or [::]:8080'
/** Port 0 selects any free port. */
export const listen = z
  .string(withMessage(listenText))
  .superRefine(unlessRefused(value => (parseHostPort(value) === undefined ? listenText : undefined)))
  .transform(value => parseHostPort(value)!)

function refuseCidr(value: string): string | undefined {
  const cidr = parseCidr(value)
  if (cidr === undefined)
    return 'must be an IP address, or a CIDR block such as 10.0.0.0/8 or fd00::/8 whose host bits are 0'
  const [address = ''] = value.split('/')
  const verdict = classifyAddress(address, [cidr])
  const isSingle = cidr.length === cidr.bytes.length * 8
  if (!isSingle || verdict.kind === 'allowed') return undefined
  // The IPv6 address contains an IPv4 address, and only the IPv4 address is checked. So the entry
  // must be in IPv4 form.
  return verdict.allowable
    ? `would have no effect, because Hookline checks only the IPv4 address in this IPv6 address: use ${verdict.address}`
    : `can never be allowed: ${verdict.range}`
}

export const cidr = z.string().superRefine(unlessRefused(refuseCidr))

/**
 * The prefix of topic names. Kafka allows 249 characters, and the longest suffix has 21
 * (`.audience-memberships`).
 */
export const topicPrefix = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/,
    'must be 1 to 200 letters, digits, ".", "_" or "-", and begin with a letter or digit',
  )

/** One of several texts. The error message lists them. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) => z.enum(values)
