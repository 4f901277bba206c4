/** A place in somebody's trace: the digit stands for all of the ids. */
export const traceparent = (digit: string, flags = '01'): string =>
  `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`
