import type { JsonObject, JsonValue } from '../../envoy/json.ts'
import type { MessageWriter } from './message-writer.ts'

/** A `google.protobuf.Struct` as a field of a message. */
export function writeStruct(writer: MessageWriter, field: number, value: JsonObject): void {
  const start = writer.begin(field)
  for (const [name, member] of Object.entries(value)) {
    const entry = writer.begin(1)
    writer.presentString(1, name)
    writeValue(writer, 2, member)
    writer.end(entry)
  }
  writer.end(start)
}

/** A `google.protobuf.Value`: exactly one of its fields. */
function writeValue(writer: MessageWriter, field: number, value: JsonValue): void {
  const start = writer.begin(field)
  if (value === null) writer.presentBool(1, false)
  else if (typeof value === 'number') writer.presentDouble(2, value)
  else if (typeof value === 'string') writer.presentString(3, value)
  else if (typeof value === 'boolean') writer.presentBool(4, value)
  else if (isList(value)) writeList(writer, 6, value)
  else writeStruct(writer, 5, value)
  writer.end(start)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function writeList(writer: MessageWriter, field: number, values: readonly JsonValue[]): void {
  const start = writer.begin(field)
  for (const value of values) writeValue(writer, 1, value)
  writer.end(start)
}
