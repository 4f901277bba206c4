const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** A count with separators, for example `12,345`. */
export const countText = (count: number): string => whole.format(count)

/** Formats a rate: below 100 with at most one decimal, from 100 without decimals. */
export const rateText = (rate: number): string => (rate < 100 ? short : whole).format(rate)

/** A count with its noun, for example `1 record` or `3 records`. */
export const countWithNoun = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${countText(count)} ${count === 1 ? noun : nouns}`
