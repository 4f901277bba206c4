import { describe, expect, it } from '@jest/globals'
import { createMemberReader } from '../../../../src/core/audience/parse-member-line.ts'

/**
 * Parses lines. The result is `<user>=<value>` for a member, `-` for a line without a member, and
 * otherwise the error.
 */
function read(kind: 'audience' | 'trait', lines: readonly (string | undefined)[]): readonly string[] {
  const readLine = createMemberReader(kind)
  return lines.map(line => {
    const result = readLine(line)
    if (result.kind === 'member') return `${result.userId}=${result.value}`
    return result.kind === 'nothing' ? '-' : result.message
  })
}

describe('accepts an object, a JSON string or number, or the bare id', () => {
  it.each([
    ['u1', 'u1=true'],
    ['  u1\t', 'u1=true'],
    ['u1\r', 'u1=true'],
    ['ann@example.com', 'ann@example.com=true'],
    ['two words', 'two words=true'],
    ['a,b', 'a,b=true'],
    ['"u1"', 'u1=true'],
    ['" u1 "', ' u1 =true'],
    ['"caf\\u00e9"', 'café=true'],
    ['"u1', '"u1=true'],
    ['12345', '12345=true'],
    ['123456789012345678901', '123456789012345678901=true'],
    ['007', '007=true'],
    ['true', 'true=true'],
    ['{"userId":"u1"}', 'u1=true'],
    ['{"userId":"u1","value":false}', 'u1=false'],
    ['{"userId":"u1","value":null}', 'u1=false'],
    ['{"userId":123456789012345678901}', '123456789012345678901=true'],
    ['{"userId":"u1","email":"a@b"}', 'u1=true'],
    ['', '-'],
    ['   ', '-'],
  ])('%j: %s', (line, expected) => {
    expect(read('audience', ['first', line])[1]).toBe(expected)
  })

  it('ignores a byte order mark before the first line', () => {
    expect(read('audience', ['\ufeffu1', 'u2'])).toEqual(['u1=true', 'u2=true'])
  })
})

describe('names the rejected line and the remedy', () => {
  const noUser = "there is no user id: set 'userId' to a string or a number"
  it.each([
    ['{"value":true}', noUser],
    ['{"userId":""}', noUser],
    ['{"userId":["u1"]}', noUser],
    ['""', noUser],
    ['{"userId":"u1","value":"yes"}', 'the value must be true or false'],
    ['{"userId":"u1","value":1}', 'the value must be true or false'],
    ['{"userId":"u1","Value":false}', "a key is misspelt: write 'value' in lower case"],
    ['["u1","u2"]', 'a JSON array is not a member: write one user per line'],
    ['{"userId":"u1"', 'The message is not JSON: '],
    ['{userId: u1}', 'The message is not JSON: '],
    ['x'.repeat(32_769), 'the line is longer than 32768 bytes'],
    [` ${'x'.repeat(32_768)}`, 'the line is longer than 32768 bytes'],
  ])('%.60s', (line, reason) => {
    expect(read('audience', ['u0', line])[1]).toMatch(`line 2: ${reason}`)
  })

  it.each(['u1\ru2\ru3', 'userId,value\ru1,false', '{"userId":"u1"}\r{"userId":"u2"}', `u1\r${'x'.repeat(40_000)}`])(
    'a carriage return inside a line, because the list then has one long line: %.40j',
    line => {
      expect(read('audience', [`${line}\r`])[0]).toBe(
        'line 1: the line has a carriage return between other characters: end each line of the list with a line feed (LF), or with CR and LF',
      )
    },
  )

  it('a line that is not UTF-8', () => {
    expect(read('audience', ['u1', undefined])[1]).toBe(
      'line 2: the line is not UTF-8 text: export the list as UTF-8, or convert it, for example with iconv',
    )
  })

  it('a computed trait needs a value', () => {
    expect(read('trait', ['u1', '{"userId":"u1","value":{}}', '{"userId":"u1","value":["a",1]}'])).toEqual([
      'line 1: the value is missing: a computed trait needs a value for each user',
      'line 2: the value must be a number, a string, a list of numbers and strings, or null',
      'u1=["a",1]',
    ])
  })
})

describe('CSV, when the first line has a field userId', () => {
  it('ids alone', () => {
    expect(read('audience', ['userId', 'u1', '', '"u,2"', '{"userId"', '7'])).toEqual([
      '-',
      'u1=true',
      '-',
      'u,2=true',
      '{"userId"=true',
      '7=true',
    ])
  })
  it('among other fields, with values', () => {
    const lines = ['email, userId ,value', 'a@b,u1,true', '"a ""b""",u2,false', 'a@b,u3,', 'a@b,u4,maybe', 'a@b']
    expect(read('audience', lines)).toEqual([
      '-',
      'u1=true',
      'u2=false',
      'u3=true',
      'line 5: the value must be true or false',
      "line 6: there is no user id: set 'userId' to a string or a number",
    ])
  })
  it('refuses a row with more fields than the header, except for empty ones', () => {
    const tooMany = 'the line has more fields than the header: put each field that contains a comma in double quotes'
    expect(read('audience', ['name,userId', 'Smith, Ann,u-17', '"Smith, Ann",u-17', 'Ann,u-18,,'])).toEqual([
      ...['-', `line 2: ${tooMany}`, 'u-17=true', 'u-18=true'],
    ])
  })
  it('values of a trait: JSON numbers, lists and null keep their type, everything else is text', () => {
    const lines = ['\ufeffuserId,value', 'u1,12.50', 'u2,gold', 'u3,"[""a"",1]"', 'u4,null', 'u5,', 'u6,true', 'u7,007']
    expect(read('trait', lines)).toEqual([
      ...['-', 'u1=12.5', 'u2="gold"', 'u3=["a",1]', 'u4=null', 'u5=null', 'u6="true"', 'u7="007"'],
    ])
  })
  it.each([
    ...[
      ['9007199254740991', '9007199254740991'],
      ['9007199254740992', '"9007199254740992"'],
    ],
    ...[
      ['-12345678901234567890', '"-12345678901234567890"'],
      ['9'.repeat(400), `"${'9'.repeat(400)}"`],
    ],
    ...[
      ['1.50', '1.5'],
      ['1e3', '1000'],
      ['-0', '0'],
      ['33.3333333333333333', '33.333333333333336'],
    ],
    ['0.10000000000000000', '0.1'],
  ])('a whole number of a trait stays text when it would lose digits as a number: %.30s', (value, expected) => {
    expect(read('trait', ['userId,value', `u1,${value}`])[1]).toBe(`u1=${expected}`)
  })
  it('a computed trait needs the column value, and a value or an empty field on each line', () => {
    expect(read('trait', ['userId,plan', 'u1,gold'])[0]).toBe(
      "line 1: a computed trait needs a value for each user, but the CSV list has no column 'value': add this column (an empty value removes the trait)",
    )
    expect(read('trait', ['userId,value', 'u1,', 'u2'])).toEqual([
      '-',
      'u1=null',
      'line 3: the value is missing: a computed trait needs a value for each user',
    ])
    expect(read('audience', ['userId,value', 'u1'])).toEqual(['-', 'u1=true'])
  })
  it('blank lines may precede the names of the columns', () => {
    expect(read('audience', ['', ' ', 'userId,value', 'u1,false'])).toEqual(['-', '-', '-', 'u1=false'])
  })
  it.each(['u1,"open', 'u1,"closed"more'])('%s is refused', line => {
    expect(read('audience', ['userId,value', line])[1]).toBe(
      'line 2: a quoted field is not closed on this line, or text follows its closing quote',
    )
  })
  it('not when only a later line is userId', () => {
    expect(read('audience', ['u1', 'userId'])).toEqual(['u1=true', 'userId=true'])
  })
  it.each(['userId,value', 'value;user_id', '"userId","value"', 'userId\tvalue'])(
    'names of columns after another line are refused: %j',
    line => {
      expect(read('audience', ['Shoppers of May', '', line])[2]).toBe(
        'line 3: the line seems to name the columns of a CSV list, but is not the first line of the list: remove the lines before it',
      )
    },
  )
  it.each(['sep=,', '\ufeffsep=;', '"sep=,"', 'SEP=', 'sep=\t'])('the first line of Excel is refused: %j', line => {
    expect(read('audience', ['', line])[1]).toBe(
      "line 2: the line 'sep=' is only for Excel and is not a user: remove it, so that the list begins with the names of the columns, separated by commas",
    )
  })
  it.each([
    ...['userid', 'user_id,plan', 'plan, ID ', '"User ID","Plan"', 'id'],
    ...['userId;value', '"userId";"value"', 'value;userId', 'userId\tvalue', '\ufeffuserId;value'],
  ])('a first line that seems to be another header is refused: %j', line => {
    expect(read('audience', [line])[0]).toMatch(
      /^line 1: the line seems to name the columns of a CSV list, but no column has the name 'userId': /,
    )
  })
  it.each(['userId,Value', '"VALUE","userId"'])('a column of values with another spelling is refused: %s', line => {
    for (const kind of ['audience', 'trait'] as const)
      expect(read(kind, [line])[0]).toMatch(
        /^line 1: the CSV list has a column '(Value|VALUE)', but no column 'value': /,
      )
  })
  it('a column Value may be beside the column value', () => {
    expect(read('audience', ['userId,value,Value', 'u1,false,true'])).toEqual(['-', 'u1=false'])
  })
  it.each(['["name","id","mail"]', '["name","userId", "mail"]'])(
    'the first line may be a JSON object with the list %s',
    list => {
      const line = `{"userId":"u1", "value":${list}}`
      expect(read('trait', [line, line])).toEqual(Array(2).fill(`u1=${list.replaceAll(' ', '')}`))
    },
  )
  it.each(['id-1', 'ids', 'my id', 'grid', '"identity"', '{"id":1,"userId":"u1"}'])(
    'another first line is a user: %j',
    line => {
      expect(read('audience', [line, 'id'])).toEqual([expect.stringMatching(/=true$/), 'id=true'])
    },
  )
})
