const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** A count with separators, for example `12,345`. */
export const countText = (count: number): string => whole.format(count)

/** A rate: with one decimal below 100, without above. */
export const rateText = (rate: number): string => (rate < 100 ? short : whole).format(rate)

/** A count with its noun, for example `1 record` or `3 records`. */
export const countWithNoun = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${countText(count)} ${count === 1 ? noun : nouns}`
