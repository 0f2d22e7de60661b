/** Selects the fields of an object that a recording keeps. Pure. */
import { isRecord, valueAt } from '../../../kube/objects/json.ts';

/** Each field, or those inside it; of a list, of each entry. */
export interface RecordedFields {
  readonly [field: string]: true | RecordedFields;
}

export const RECORDED_CONDITION: RecordedFields = {
  type: true,
  status: true,
  reason: true,
  lastTransitionTime: true,
  lastHeartbeatTime: true,
};

/** Merges declarations of the same object: a field that one keeps whole is kept whole. */
export function uniteFields(...all: readonly RecordedFields[]): RecordedFields {
  const merged: Record<string, true | RecordedFields> = {};
  for (const [field, inner] of all.flatMap((fields) => Object.entries(fields))) {
    const present = merged[field] ?? {};
    merged[field] = inner === true || present === true || uniteFields(present, inner);
  }
  return merged;
}

export function pickFields(value: unknown, fields: RecordedFields): unknown {
  if (Array.isArray(value)) return value.map((entry) => pickFields(entry, fields));
  if (!isRecord(value)) return value;
  const entries = Object.entries(fields).flatMap(([field, inner]): (readonly [string, unknown])[] => {
    const present = valueAt(value, field);
    if (present === undefined || present === null) return [];
    return [[field, inner === true ? present : pickFields(present, inner)]];
  });
  return Object.fromEntries(entries);
}
