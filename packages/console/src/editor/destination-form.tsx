import { formatPath, valueAt } from '../../../../src/core/settings/settings-problem.ts'
import { Button } from '../components/button.tsx'
import { ProblemList } from '../components/problem-list.tsx'
import { TextField } from '../components/text-field.tsx'
import { CommaSeparatedField } from './comma-separated-field.tsx'
import { type FormField, fieldText, fieldValue, policyFields, secretField, sourcesField } from './destination-fields.ts'
import type { DocumentFormProps } from './document-editor.tsx'
import { withValueAt } from './document-text.ts'
import { otherProblems, problemsAt } from './problems-by-field.ts'

export interface DestinationFormProps extends DocumentFormProps {
  /**
   * Whether the form has a field for the shared secret. A stored destination gets a new secret by
   * the dialog for rotation instead.
   */
  readonly hasSecret: boolean
}

const maxWebhooks = 5

/** A form with the most used fields of a destination. */
export function DestinationForm({ document, onDocument, problems, hasSecret }: DestinationFormProps) {
  const { webhooks } = document
  const count = Array.isArray(webhooks) ? webhooks.length : 0
  const shown = [sourcesField, ...(hasSecret ? [secretField] : []), ...policyFields, webhookField]
  const field = (each: FormField) => {
    const Field = each.isList === true ? CommaSeparatedField : TextField
    return (
      <Field
        key={each.label}
        label={each.label}
        type={each.type ?? 'text'}
        hint={each.hint}
        isRequired={each.isRequired ?? false}
        problems={problemsAt(problems, formatPath(each.path))}
        value={fieldText(each, document)}
        onInput={text => onDocument(withValueAt(document, each.path, fieldValue(each, text)))}
      />
    )
  }
  return (
    <div class="form">
      {field(sourcesField)}
      {hasSecret && field(secretField)}
      <fieldset class="group">
        <legend>Webhooks</legend>
        {Array.from({ length: Math.max(1, count) }, (_, index) => (
          <WebhookField key={String(index)} {...{ document, onDocument, problems, index }} canRemove={count > 1} />
        ))}
        {count < maxWebhooks && (
          <Button onClick={() => onDocument(withValueAt(document, ['webhooks', Math.max(1, count)], { url: '' }))}>
            Add a webhook
          </Button>
        )}
      </fieldset>
      <fieldset class="group">
        <legend>Policy</legend>
        <div class="columns">{policyFields.map(field)}</div>
      </fieldset>
      <ProblemList
        problems={otherProblems(
          problems,
          shown.map(({ path }) => formatPath(path)),
        )}
      />
    </div>
  )
}

const webhookField: FormField = { label: 'Webhooks', path: ['webhooks'] }

interface WebhookFieldProps extends DocumentFormProps {
  readonly index: number
  readonly canRemove: boolean
}

function WebhookField({ document, onDocument, problems, index, canRemove }: WebhookFieldProps) {
  const path = ['webhooks', index, 'url'] as const
  const url = valueAt(document, path)
  const own = problemsAt(problems, `webhooks[${index}]`)
  const ofList = index === 0 ? problems.filter(problem => problem.path === 'webhooks') : []
  return (
    <div class="field-with-button">
      <TextField
        label={`URL of webhook ${index + 1}`}
        type="url"
        value={typeof url === 'string' ? url : ''}
        onInput={text => onDocument(withValueAt(document, path, text))}
        problems={[...ofList, ...own]}
        isRequired
      />
      {canRemove && (
        <Button
          label={`Remove webhook ${index + 1}`}
          onClick={() => onDocument(withValueAt(document, ['webhooks', index], undefined))}
        >
          Remove
        </Button>
      )}
    </div>
  )
}
