const format = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** Formats an ISO 8601 time in the time zone of the user, for example `26 Nov 2026, 03:12:45`. */
export function localTime(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? iso : format.format(at)
}

/** Formats an ISO 8601 time in UTC, for example `2026-11-26 02:12:45.120 UTC`. */
export function utcTime(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? iso : `${at.toISOString().replace('T', ' ').replace('Z', '')} UTC`
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
]

/** Formats milliseconds in their two largest units, for example `3 h 5 min`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  let seconds = Math.round(ms / 1000)
  const parts: string[] = []
  for (const [unit, size] of units) {
    const count = Math.floor(seconds / size)
    if (count > 0) parts.push(`${count} ${unit}`)
    seconds -= count * size
  }
  return parts.slice(0, 2).join(' ')
}

/** Converts epoch milliseconds to the value of a `datetime-local` field, in local time. */
export function localInput(epochMs: number): string {
  const at = new Date(epochMs - new Date(epochMs).getTimezoneOffset() * 60_000)
  return at.toISOString().slice(0, 16)
}

/** Converts the value of a `datetime-local` field to ISO 8601; `undefined` if empty or invalid. */
export function isoOfInput(value: string): string | undefined {
  const at = new Date(value)
  return value === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
