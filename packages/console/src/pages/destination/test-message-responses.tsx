import type { TestResponse, TestResult } from '../../api/test-and-preview-types.ts'
import { Badge } from '../../components/badge.tsx'
import { Facts } from '../../components/list-of-names-and-values.tsx'
import { TextBlock } from '../../components/text-block.tsx'
import { durationText } from '../../components/time-text-and-input-values.ts'

/** The response of each webhook to a test message. */
export function TestAnswers({ result }: { readonly result: TestResult }) {
  return (
    <>
      <p>
        <Badge state={result.delivered ? 'delivered' : 'failed'} />{' '}
        {result.delivered ? 'At least one webhook accepted the test message.' : 'No webhook accepted the test message.'}
      </p>
      {result.responses.map(response => (
        <TestAnswer key={response.webhook} response={response} />
      ))}
      <details>
        <summary>Body of the request</summary>
        <TextBlock label="Body of the request" text={result.body} />
      </details>
    </>
  )
}

function responseText({ text, contentEncoding }: NonNullable<TestResponse['responseBody']>): string {
  if (text === undefined) return `(not shown, because it is compressed with ${contentEncoding})`
  return text === '' ? '(empty)' : text
}

function TestAnswer({ response }: { readonly response: TestResponse }) {
  const { webhook, request, outcome, status, failure, tookMs, responseBody } = response
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <section class="answer" aria-label={`Webhook ${webhook}`}>
      <Facts
        facts={[
          ['Webhook', <span class="id">{webhook}</span>],
          ['Outcome', <code>{outcome}</code>],
          ['Status', status],
          ['Duration', durationText(tookMs)],
          ...(failure === undefined
            ? []
            : ([['Failure', `${failure.phase}: ${failure.detail} (${failure.code})`]] as const)),
        ]}
      />
      {responseBody !== undefined && (
        <div>
          <h3>Response body{responseBody.truncated && ' (incomplete: longer than 4 KiB, or cut off)'}</h3>
          <TextBlock label="Response body" text={responseText(responseBody)} />
        </div>
      )}
      <details>
        <summary>Headers of the request</summary>
        <TextBlock label="Headers of the request" text={[`POST ${request.url}`, ...headers].join('\n')} />
      </details>
    </section>
  )
}
