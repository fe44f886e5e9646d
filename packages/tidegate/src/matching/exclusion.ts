import { beginningsOf } from './beginnings.ts'
import type { CompiledCondition } from './condition.ts'
import { beginsWithAny } from './prefixes.ts'

/**
 * True where no value can meet both conditions. False also where that is not easily seen: for two globs,
 * say, that begin alike.
 */
export function excludeEachOther(first: CompiledCondition, second: CompiledCondition): boolean {
  return excludes(first, second) || excludes(second, first) || beginApart(first, second)
}

function excludes(first: CompiledCondition, second: CompiledCondition): boolean {
  if (first.kind === 'exact') return !first.values.some((value) => second.matches(value))
  return second.kind === 'not' && covers(second.condition, first)
}

/** Whether what meets `narrow` meets `wide`; false also where that is not easily seen. */
function covers(wide: CompiledCondition, narrow: CompiledCondition): boolean {
  if (JSON.stringify(wide) === JSON.stringify(narrow)) return true
  // A glob asks for more than a beginning.
  const [begin, within] = [wide.kind === 'glob' ? undefined : beginningsOf(wide), beginningsOf(narrow)]
  if (begin === undefined || begin.of !== within?.of) return false
  return within.texts.every((text) => beginsWithAny(text, begin.texts))
}

function beginApart(first: CompiledCondition, second: CompiledCondition): boolean {
  const [one, other] = [beginningsOf(first), beginningsOf(second)]
  if (one === undefined || one.of !== other?.of) return false
  const meet = (texts: readonly string[], begin: readonly string[]) => texts.some((text) => beginsWithAny(text, begin))
  return !meet(one.texts, other.texts) && !meet(other.texts, one.texts)
}
