const format = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** An ISO 8601 time in the zone of the user, for example `26 Nov 2026, 03:12:45`. */
export function localTime(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? iso : format.format(at)
}

/** The same time in UTC, for example `2026-11-26 02:12:45.120 UTC`. */
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

/** A span of milliseconds in its two largest units, for example `3 h 5 min`; below a second in ms. */
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

/** The value of a field for a local date and time (`YYYY-MM-DDTHH:MM`), for epoch milliseconds. */
export function localInput(epochMs: number): string {
  const at = new Date(epochMs - new Date(epochMs).getTimezoneOffset() * 60_000)
  return at.toISOString().slice(0, 16)
}

/** The ISO 8601 time of a field for a local date and time; `undefined` for an empty or wrong one. */
export function isoOfInput(value: string): string | undefined {
  const at = new Date(value)
  return value === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
