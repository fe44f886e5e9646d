import type { CompiledCondition } from 'tidegate'

/** What a rule asks of a dimension, for people: `route = /order`, `ip not in 10.0.0.0/8`. */
export function conditionText(dimension: string, condition: CompiledCondition): string {
  return condition.kind === 'not'
    ? `${dimension} not ${listed(condition.condition)}`
    : `${dimension} ${listed(condition)}`
}

const RELATIONS = { exact: '=', prefix: 'begins with', glob: 'like', cidr: 'in' }

function listed({ kind, values }: Exclude<CompiledCondition, { kind: 'not' }>): string {
  const shown = values.slice(0, MOST_SHOWN).join(' or ')
  const more = values.length - MOST_SHOWN
  return `${RELATIONS[kind]} ${shown}${more > 0 ? ` or ${more} more` : ''}`
}

/** A list of networks can have thousands. */
const MOST_SHOWN = 5
