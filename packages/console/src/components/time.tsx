import { localTime, utcTime } from './time-text-and-input-values.ts'

/** A time in the zone of the user, with the UTC time as tooltip. */
export function Time({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return null
  return (
    <time dateTime={at} title={utcTime(at)} class="time">
      {localTime(at)}
    </time>
  )
}
