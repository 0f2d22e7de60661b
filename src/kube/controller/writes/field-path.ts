/**
 * Paths of fields as controllers declare them: `Machine.spec.components`, `Node.metadata.labels[kubenode.dev/pool]`,
 * `Machine.status.conditions[Ready]`, `Machine.status.components[*].ready`. Pure.
 */
import { isRecord, textAt } from '../../objects/json.ts';

/** A field name, or an entry of a map or list in brackets. */
export type PathStep = string;

export interface FieldPath {
  readonly kind: string;
  readonly steps: readonly PathStep[];
}

/** Kind, then fields; the key of a map or list in brackets may contain dots. */
const FIELD_PATH = /^[A-Z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*|\[[^\][]+\])+$/;
const ANY_ENTRY = '[*]';

/**
 * The fields that name an entry of a list, the first one present counts. They are the list map keys of Kubernetes and of
 * our kinds: conditions by type, containers by name, taints by key, owner references by uid.
 */
const ENTRY_KEYS = [
  'type',
  'name',
  'key',
  'id',
  'unit',
  'component',
  'check',
  'filesystem',
  'path',
  'arch',
  'uid',
] as const;

export function isFieldPath(text: string): boolean {
  return FIELD_PATH.test(text);
}

export function parseFieldPath(text: string): FieldPath {
  const [kind = '', ...steps] = [...text.matchAll(/\[[^\][]+\]|[^.[\]]+/g)].map(([step]) => step);
  return { kind, steps };
}

/** The same field, or one inside the other. */
export function overlap(a: string, b: string): boolean {
  const [one, other] = [parseFieldPath(a), parseFieldPath(b)];
  const shared = Math.min(one.steps.length, other.steps.length);
  return (
    one.kind === other.kind && one.steps.slice(0, shared).every((step, n) => meets(step, other.steps[n]))
  );
}

/** Do these steps lead to the same field? `[*]` stands for every entry. */
export function meets(a: PathStep, b: PathStep | undefined): boolean {
  if (a === b || b === undefined) return a === b;
  return (a === ANY_ENTRY && b.startsWith('[')) || (b === ANY_ENTRY && a.startsWith('['));
}

export function entryStep(key: string): PathStep {
  return `[${key}]`;
}

/** The field that names this entry of a list; undefined where nothing does. */
export function entryKeyField(entry: unknown): string | undefined {
  return isRecord(entry) ? ENTRY_KEYS.find((key) => textAt(entry, key) !== undefined) : undefined;
}

/** `[Ready]` for a condition, `[a]` for the string a in a set, `[2]` where nothing names the entry. */
export function stepOfEntry(entry: unknown, index: number): PathStep {
  if (typeof entry === 'string') return entryStep(entry);
  const key = entryKeyField(entry);
  return entryStep(key === undefined ? String(index) : (textAt(entry, key) ?? ''));
}

/** For messages: `status.conditions[Ready]`. */
export function fieldText(steps: readonly PathStep[]): string {
  return steps
    .map((step) => (step.startsWith('[') ? step : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
