import type { Descriptor } from './descriptor.ts'
import type { OverrideOptions } from './override.ts'
import type { RuleOptions } from './rule.ts'

/**
 * The dimensions that rules name, where they are given literally, so that a misspelt one in a request does not compile.
 * `string`, any at all, where they are not known before the program runs, and where a limit comes from a function: it
 * can read others.
 */
export type DimensionsOf<Rules extends readonly RuleOptions[]> = DimensionsIn<Rules[number]>

/** Distributes over the rules. */
type DimensionsIn<Rule> = Rule extends RuleOptions
  ? OfKey<Field<Rule, 'key'>> | OfConditions<Field<Rule, 'match'>> | OfSkip<Field<Rule, 'skip'>> | OfLimit<Rule>
  : never

type OfLimit<Rule> =
  | OfOverrides<Field<Rule, 'overrides'>>
  | Extract<Field<Rule, 'cost'>, string>
  | OfSource<Field<Rule, 'limit'>>

type Field<Rule, Name extends string> = Name extends keyof Rule ? NonNullable<Rule[Name]> : never

type OfKey<Key> = Key extends readonly (infer Dimension)[] ? Extract<Dimension, string> : never

type OfConditions<Conditions> = Conditions extends unknown ? Extract<keyof Conditions, string> : never

type OfSkip<Skip> = Skip extends readonly (infer Conditions)[] ? OfConditions<Conditions> : OfConditions<Skip>

/** The fields of an override that are no limit fields. */
type OfOverrides<Overrides> = Overrides extends readonly (infer Override)[]
  ? Override extends unknown
    ? Exclude<Extract<keyof Override, string>, LimitFieldsOf<OverrideOptions>>
    : never
  : never

/** The names that an interface has besides its index signature. */
type LimitFieldsOf<Options> = keyof { [Name in keyof Options as string extends Name ? never : Name]: true }

type OfSource<Limit> = Limit extends (...all: never[]) => unknown
  ? string
  : Limit extends { readonly dimension: infer Dimension }
    ? Extract<Dimension, string>
    : never

/** Refuses fields that rules do not have, as a plain array of them would: what is inferred may have any. */
export type WithoutOthers<Rules extends readonly RuleOptions[]> = {
  readonly [Place in keyof Rules]: { readonly [Name in Exclude<keyof Rules[Place], keyof RuleOptions>]: never }
}

/** A request of a gate whose rules have these dimensions; any of them can be missing. */
export type DescriptorOf<Dimension extends string> = string extends Dimension
  ? Descriptor
  : { readonly [Name in Dimension]?: string }
