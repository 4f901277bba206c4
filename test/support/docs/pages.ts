import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const checkout = resolve(import.meta.dirname, '../../..')

export interface Page {
  readonly path: string
  readonly text: string
}

export const pageAt = (path: string): Page => ({ path, text: readFileSync(join(checkout, path), 'utf8') })

export const allPages = (): readonly Page[] =>
  [
    ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'schemas/README.md'],
    ...['packages/client/README.md', 'packages/client-kafka/README.md'],
    ...['test/README.md', 'test/golden/payloads/README.md'],
    ...readdirSync(join(checkout, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.md'))
      .map(name => join('docs', name))
      .sort(),
  ].map(pageAt)

/** A fenced block, or an indented block outside lists. */
export interface Block {
  /** Number of the first line, from 1. */
  readonly line: number
  /** Empty for an indented block. */
  readonly language: string
  readonly text: string
}

const fence = /^( *)```(\S*)\n(.*?)^\1```$/gms
const indented = /(?<=\n\n)(?: {4}.*\n)(?:(?: {4}.*)?\n)*/g

export function blocksOf({ text }: Page): readonly Block[] {
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length
  const fenced = [...text.matchAll(fence)].map(({ index, 1: margin = '', 2: language = '', 3: inside = '' }) => ({
    line: lineAt(index) + 1,
    language,
    text: inside.replaceAll(new RegExp(`^${margin}`, 'gm'), ''),
  }))
  const rest = withoutFences(text)
  const others = [...rest.matchAll(indented)].map(({ index, 0: inside }) => ({
    line: lineAt(index),
    language: '',
    text: inside.replaceAll(/^ {4}/gm, ''),
  }))
  return [...fenced, ...others].sort((a, b) => a.line - b.line)
}

/** The text without its fenced examples, with the same line numbers. */
export const withoutFences = (text: string): string => text.replaceAll(fence, block => block.replaceAll(/[^\n]/g, ''))

export const codeSpansOf = ({ text }: Page): readonly string[] =>
  [...withoutFences(text).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
