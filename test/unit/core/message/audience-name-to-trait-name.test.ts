import { describe, expect, it } from '@jest/globals'
import { traitNameOf } from '../../../../src/core/message/audience-name-to-trait-name.ts'

describe('snake_case', () => {
  it.each([
    ['First time shopper', 'first_time_shopper', 'A: "first-time shopper" of the specification'],
    ['Order completed last 30days', 'order_completed_last_30days', 'no split before digits'],
    ['last30Days', 'last30_days', 'a number stays with the word before it'],
    ['Q4 2024', 'q4_2024', 'digits are words of their own where they stand apart'],
    ['  VIP  ', 'vip', 'trimmed'],
    ['firstTimeShopper', 'first_time_shopper', 'camelCase without separators'],
    ['ABCUsers', 'abc_users', 'the last of several capitals begins a word'],
    ['iOSUsers', 'i_os_users', 'camelCase without separators'],
    ['usersABC', 'users_abc', 'capitals at the end'],
    ['firstTime shopper', 'firsttime_shopper', 'camelCase is split only in a name without separators'],
    ['firstTime_shopper', 'firsttime_shopper', 'an underscore separates'],
    ["Don't churn", 'don_t_churn', 'anything but letters, marks and digits separates'],
    ['a -- b // c', 'a_b_c', 'a run becomes one underscore'],
    ['__proto__', 'proto', 'none at the ends'],
    ['(new!)', 'new', 'none at the ends'],
    ['Käufer', 'käufer', 'letters of every script stay'],
    ['Ka\u0308ufer', 'k\u00e4ufer', 'NFC'],
    ['ÄpfelUndÖl', 'äpfel_und_öl', 'capitals of every script'],
    ['हिन्दी भाषा', 'हिन्दी_भाषा', 'marks belong to their letters'],
    ['常连客', '常连客', 'scripts without cases'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος', 'lower-case as the language has it'],
    ['٣٠ يوم', '٣٠_يوم', 'digits of every script'],
  ])('%s → %s (%s)', (name, traitName) => {
    expect(traitNameOf(name)).toBe(traitName)
  })

  it.each(['', '   ', '!!!', '_', '…', '🙂'])('%j has no trait name', name => {
    expect(traitNameOf(name)).toBeUndefined()
  })

  it('returns a trait name unchanged', () => {
    for (const name of ['First time shopper', 'last30Days', 'ABCUsers', 'Käufer'])
      expect(traitNameOf(traitNameOf(name) ?? '')).toBe(traitNameOf(name))
  })
})
