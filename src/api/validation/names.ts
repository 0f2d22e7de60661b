/** Explains why a text cannot be a name, by the patterns of the API server; undefined: it can. Pure. */
import { LABEL_KEY, LABEL_VALUE, OBJECT_NAME, type Pattern } from '../patterns.ts';

/** A name of a Machine is the name of its Node, and the value of labels. */
const MAX_MACHINE_NAME = 63;
const MAX_OBJECT_NAME = 253;
const MAX_LABEL_VALUE = 63;

export function nodeNameReason(name: string): string | undefined {
  return patternReason(name, OBJECT_NAME, MAX_MACHINE_NAME);
}

export function objectNameReason(name: string): string | undefined {
  return patternReason(name, OBJECT_NAME, MAX_OBJECT_NAME);
}

export function labelKeyReason(key: string): string | undefined {
  return patternReason(key, LABEL_KEY);
}

export function labelValueReason(value: string): string | undefined {
  return patternReason(value, LABEL_VALUE, MAX_LABEL_VALUE);
}

function patternReason(
  text: string,
  { regex, description }: Pattern,
  max = Number.POSITIVE_INFINITY,
): string | undefined {
  if (text.length > max) return `expected at most ${max} characters`;
  return new RegExp(regex).test(text) ? undefined : `expected ${description}`;
}
