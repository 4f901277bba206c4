/** A `traceparent` header. Its ids repeat one digit. */
export const traceparent = (digit: string, flags = '01'): string =>
  `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`
