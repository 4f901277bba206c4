/*
 * Words that readers must read twice. A check with textlint or retext would need this list too, and
 * a plugin for TypeScript.
 */

export interface UnclearWord {
  /** Matches whole words in any case. A space matches any white space, also a line break. */
  readonly pattern: RegExp
  readonly instead: string
  readonly why: string
  /** Files that may have the word, each with the reason. */
  readonly except?: Readonly<Record<string, string>>
}

const idiom = 'an idiom that readers of English as a second language do not know'
const vague = 'the actor or the thing is not named'
const ownWord = 'a private word for a concept that has a term in the glossary'

export const unclearWords: readonly UnclearWord[] = [
  { pattern: /\b(whoever|whosoever)\b/, instead: 'the role or the component', why: vague },
  {
    pattern: /\btold\b/,
    instead: '"gets", "receives" or "is notified", or an active sentence with "reports"',
    why: vague,
  },
  { pattern: /\b(tells?|heard|hears?) of\b/, instead: '"reports", "names" or "contact"', why: idiom },
  {
    pattern: /\b(takes?|taken|took|taking) up\b(?! to\b)/,
    instead: '"admitted", "applied" or "started"',
    why: ownWord,
  },
  {
    pattern: /\bgiven up\b/,
    instead: '"dead-lettered" for a delivery, "revoked" for a partition, "ended" for a wait',
    why: ownWord,
  },
  {
    pattern: /\b(puts?|putting) (it |them )?back\b/,
    instead: '"replayed" for a dead letter, "returned" for a value',
    why: ownWord,
  },
  { pattern: /\b(puts?|putting) (it |them )?off\b/, instead: '"deferred"', why: ownWord },
  {
    pattern: /\bpark(s|ed|ing)?\b/,
    instead: '"deferred", or "waiting in a retry topic" after an attempt',
    why: ownWord,
  },
  { pattern: /\bmove(s|d)? on\b/, instead: '"deferred", or "continues with"', why: ownWord },
  {
    pattern: /\bso (many|long)\b(?!,?( \w+)? (that|as)\b)/,
    instead: 'the number with its unit, or "this many", "for this time"',
    why: 'a placeholder for a number that the text does not name',
  },
  { pattern: /\bany more\b/, instead: '"no longer", or "further" for an amount', why: 'read as an amount first' },
  { pattern: /\bof ours\b/, instead: '"of Hookline", or the name of the component', why: vague },
  { pattern: /\bmeanwhile\b/, instead: '"while" with the name of what happens', why: 'the time is not named' },
  { pattern: /\b(gets?|goes|go|went|gone) on\b/, instead: '"continues", "proceeds" or "happens"', why: idiom },
  { pattern: /\bstands\b(?! (for|still)\b)/, instead: '"is"', why: idiom },
  {
    pattern: /(?<!\bthere )\b(is|are|was|were) no (?!longer\b|more\b|less\b|later\b|earlier\b)/,
    instead: '"is not a" or "does not"',
    why: 'a negated noun where English negates the verb',
  },
  { pattern: /\bmend(s|ed|ing)?\b/, instead: '"corrects", "repairs" or "fixes"', why: 'not used of software' },
  { pattern: /\b(looks|looked|looking) on\b/, instead: '"observes" or "reads"', why: idiom },
  { pattern: /\b(have|has|had) to hold\b/, instead: '"must be true"', why: idiom },
  { pattern: /\bat once\b/, instead: '"immediately" or "concurrently"', why: 'two meanings' },
  {
    pattern: /(?<!\bno )\bsuch\b(?! as\b)|\bas such\b/,
    instead: '"this", "these", or the name of the thing',
    why: 'the reader has to look for what it refers to',
  },
  {
    pattern: /\b(the|its|their|what is) (most|least) (that|which|it|they|a|an|one|\d)\b/,
    instead: '"the maximum" or "the minimum"',
    why: 'an adverb for a limit',
  },
  {
    pattern: /\b(possible|different|two|three|four|its|their) ends\b/,
    instead: '"results" or "outcomes"',
    why: ownWord,
  },
  {
    pattern:
      /\b(process|processes|component|topics?|partitions?|destinations?|brokers?|endpoints?|webhooks?|files?|messages?|consumers?) who\b/,
    instead: '"that"',
    why: '"who" is for people',
  },
  {
    pattern: /(?:(?<=[¦.:;])|(?<=[¦.:;] ))what (is|was) (?!wrong\b|missing\b|[^.¦]*\?)/,
    instead: 'the noun: "unread records" for "what was not read"',
    why: 'the sentence begins with a clause in the place of a noun',
  },
]

export interface Finding {
  readonly line: number
  readonly found: string
  readonly word: UnclearWord
}

export const unclearWordsIn = (path: string, prose: string, words = unclearWords): readonly Finding[] =>
  words
    .filter(({ except = {} }) => !(path in except))
    .flatMap(word =>
      [...prose.matchAll(everywhere(word.pattern))].map(({ 0: found, index }) => ({
        found: found.replaceAll(/\s+/g, ' '),
        line: prose.slice(0, index).split('\n').length,
        word,
      })),
    )

/** Returns a `gi` expression in which each space matches all consecutive white space. */
const everywhere = ({ source }: RegExp): RegExp => new RegExp(source.replaceAll(' ', '\\s+(?!\\s)'), 'gi')

export const explain = (path: string, { line, found, word }: Finding): string =>
  `${path}:${line}: "${found}": write ${word.instead}; ${word.why}`
