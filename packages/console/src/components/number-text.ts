const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** A count with separators, for example `12,345`. */
export const countText = (count: number): string => whole.format(count)

/** A rate with at most one decimal. A rate of 100 or more has no decimals. */
export const rateText = (rate: number): string => (rate < 100 ? short : whole).format(rate)

/**
 * For example `100 of 5,000`. `undefined` if the list has all entries, or if the operator service
 * is too old to send `total`.
 */
export const partOfTotalText = (list: readonly unknown[] = [], total = 0): string | undefined =>
  total > list.length ? `${countText(list.length)} of ${countText(total)}` : undefined

/** For example `1 record` or `3 records`. */
export const countWithNoun = (count: number, noun: string): string =>
  `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
