import fc from 'fast-check'

/** One UTF-16 code unit in a JSON string, also a lone surrogate, escaped or unescaped. */
const unit = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.constantFrom(0, 0x0a, 0x1f, 0x22, 0x2f, 0x5c, 0x7f, 0xe9, 0x2028, 0x2029, 0xfffd, 0xd83d, 0xde00),
      fc.integer({ min: 0, max: 0xffff }),
    ),
    fc.boolean(),
  )
  .map(([code, escaped]) => {
    const mustEscape = code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)
    return escaped || mustEscape ? `\\u${code.toString(16).padStart(4, '0')}` : String.fromCharCode(code)
  })
const string = fc.oneof(
  fc.array(unit, { maxLength: 6 }).map(units => `"${units.join('')}"`),
  fc.constantFrom('"😀"', '"\u2028"', '"\\ud83d\\ude00"', '"\\ude00\\ud83d"', '"\\b\\f\\n\\r\\t\\/"'),
)

const digits = (max: number) => fc.bigInt({ min: 0n, max: 10n ** BigInt(max) - 1n }).map(String)
/** Numbers in all forms that JSON permits. None is too large for a double, and some are rounded. */
const number = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('', '-'),
      digits(22),
      fc.oneof(
        fc.constant(''),
        digits(20).map(text => `.${text}`),
      ),
      fc.oneof(
        fc.constant(''),
        fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'), digits(2)).map(part => part.join('')),
      ),
    )
    .map(parts => parts.join('')),
  fc.constantFrom(
    ...['-0', '-0.0', '0e9', '1E5', '1e-7', '1e21', '12345678901234567890', '9007199254740993', '5e-324', '1e-999'],
    '1.7976931348623157e308',
  ),
)
const key = fc.oneof(
  string,
  fc.constantFrom(
    ...['"__proto__"', '"\\u005f_proto__"', '"constructor"', '"10"', '"2"', '"-1"', '"01"', '"4294967295"'],
    ...['"4294967296"', '""', '"a"', '"\\ud83d"'],
  ),
)
const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r ')

/** JSON texts with up to five levels, white space, duplicate keys and other non-canonical forms. */
export const jsonText = fc.letrec<{ value: string; list: string; object: string }>(tie => ({
  value: fc
    .tuple(
      space,
      fc.oneof(
        { maxDepth: 4 },
        string,
        number,
        fc.constantFrom('true', 'false', 'null', '{}', '[]'),
        tie('list'),
        tie('object'),
      ),
      space,
    )
    .map(parts => parts.join('')),
  list: fc.array(tie('value'), { maxLength: 4 }).map(items => `[${items}]`),
  object: fc
    .array(fc.tuple(space, key, space, tie('value')), { maxLength: 5 })
    .map(members => `{${members.map(([before, name, after, value]) => `${before}${name}${after}:${value}`)}}`),
}))
