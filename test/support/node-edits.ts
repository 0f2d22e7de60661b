/**
 * Random edits of a Machine and of its Node, by the machine controller and by others, and a model of what has to be on the
 * Node after each: one map of values and one set of owned keys for labels, annotations and taints alike.
 */
import fc from 'fast-check';
import type { Machine, Taint } from '../../src/api/generated/types.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { machine, node } from './builders.ts';

export const KEY_KINDS = ['labels', 'annotations', 'taints'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];
type Texts = Readonly<Record<string, string>>;

/** Taints by `key:effect`. */
export type DeclaredKeys = Readonly<Record<KeyKind, Texts>>;

/** By a person, the kubelet or another controller; without a value it removes the key. */
export interface ForeignEdit {
  readonly kind: KeyKind;
  readonly key: string;
  readonly value: string | null;
}

export interface EditStep {
  readonly declared: DeclaredKeys;
  readonly before: readonly ForeignEdit[];
  /** Between the read of the Node and the write. */
  readonly during: readonly ForeignEdit[];
  /** Somebody removes the record of what is ours. */
  readonly losesRecord: boolean;
  readonly mayEvict: boolean;
  readonly removeStartupTaint: boolean;
}

const RECORD = 'kubenode.dev/owned';
/** As the model of a Node knows it: a key and an effect. */
export const STARTUP_TAINT = 'kubenode.dev/not-initialized:NoSchedule';
const MACHINE_LABEL = 'kubenode.dev/machine';
/** Of another controller, in the same record. */
const JOBS = { 'kubenode.dev/disk': 'g-1' };

/** Keys that are only ours, that both set, and that only others set. */
const KEYS: Readonly<Record<KeyKind, Readonly<Record<'ours' | 'both' | 'theirs', readonly string[]>>>> = {
  labels: {
    ours: ['tier', 'example.com/a'],
    both: ['zone', 'constructor'],
    theirs: ['team', 'example.com/x'],
  },
  annotations: {
    ours: ['note', 'example.com/a'],
    both: ['by', 'constructor'],
    theirs: ['cost', 'example.com/x'],
  },
  taints: {
    ours: ['gpu:NoSchedule', 'gpu:NoExecute'],
    both: ['disk:NoExecute', 'disk:PreferNoSchedule'],
    theirs: ['net:NoSchedule', 'net:NoExecute', STARTUP_TAINT],
  },
};

const anyValue = fc.constantFrom('', '1', '2');

function anyTexts(kind: KeyKind): fc.Arbitrary<Texts> {
  const { ours, both } = KEYS[kind];
  return fc.dictionary(fc.constantFrom(...ours, ...both), anyValue, { maxKeys: 4 });
}

const anyEdit = fc.constantFrom(...KEY_KINDS).chain((kind) => {
  const { ours, both, theirs } = KEYS[kind];
  return fc.record<ForeignEdit>({
    kind: fc.constant(kind),
    key: fc.constantFrom(...ours, ...both, ...theirs),
    value: fc.option(anyValue),
  });
});

export const anyEditSteps: fc.Arbitrary<readonly EditStep[]> = fc.array(
  fc.record<EditStep>({
    declared: fc.record({
      labels: anyTexts('labels'),
      annotations: anyTexts('annotations'),
      taints: anyTexts('taints'),
    }),
    before: fc.array(anyEdit, { maxLength: 3 }),
    during: fc.array(anyEdit, { maxLength: 2 }),
    losesRecord: fc.nat(15).map((n) => n === 0),
    mayEvict: fc.boolean(),
    removeStartupTaint: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);

/** Registered with the start-up taint, and edited by others before the first reconcile. */
export function registeredNode(): KubeObject {
  const metadata = {
    annotations: { [RECORD]: JSON.stringify({ jobs: JOBS }), cost: '1' },
    resourceVersion: '1',
  };
  return { ...node('m', 'True', metadata), spec: { taints: [taintFrom(STARTUP_TAINT, '')] } };
}

export function declaringMachine({ labels, annotations, taints }: DeclaredKeys): Machine {
  const list = Object.entries(taints).map(([id, value]) => taintFrom(id, value));
  return machine('m', { spec: { node: { labels, annotations, taints: list } } });
}

/** As another client writes it: a taint with a field of its own. */
export function editedNode(found: KubeObject, { kind, key, value }: ForeignEdit): KubeObject {
  const { labels, annotations, taints } = valuesOn(found);
  const values = { labels, annotations, taints }[kind];
  if (value === null) values.delete(key);
  else values.set(key, kind === 'taints' ? `${value}@${THEIR_TIME}` : value);
  const record = found.metadata.annotations?.[RECORD];
  const kept = record === undefined ? {} : { [RECORD]: record };
  return {
    ...found,
    metadata: {
      ...found.metadata,
      resourceVersion: nextVersion(found),
      labels: Object.fromEntries(labels),
      annotations: { ...Object.fromEntries(annotations), ...kept },
    },
    spec: { taints: [...taints].map(([id, text]) => taintFrom(id, text)) },
  };
}

export function withoutRecord(found: KubeObject): KubeObject {
  const { [RECORD]: _, ...annotations } = found.metadata.annotations ?? {};
  return { ...found, metadata: { ...found.metadata, annotations, resourceVersion: nextVersion(found) } };
}

export function nextVersion({ metadata }: KubeObject): string {
  return String(Number(metadata.resourceVersion) + 1);
}

export type NodeValues = Readonly<Record<KeyKind, Map<string, string>>>;

/** All keys but the record; a taint of others with its time: `1@2030-01-01T00:00:00Z`. */
export function valuesOn({ metadata, ...rest }: KubeObject): NodeValues {
  const { [RECORD]: _, ...annotations } = metadata.annotations ?? {};
  const { taints = [] } = (rest['spec'] ?? {}) as { readonly taints?: readonly TimedTaint[] };
  return {
    labels: new Map(Object.entries(metadata.labels ?? {})),
    annotations: new Map(Object.entries(annotations)),
    taints: new Map(taints.map(({ key, effect, ...each }) => [`${key}:${effect}`, timedText(each)])),
  };
}

export function taintCount(found: KubeObject): number {
  return ((found['spec'] as { readonly taints?: readonly unknown[] } | undefined)?.taints ?? []).length;
}

/** As `kubenode.dev/owned` lists them, each kind sorted. */
export function recordOn({ metadata }: KubeObject): Readonly<Record<string, unknown>> {
  return JSON.parse(metadata.annotations?.[RECORD] ?? '{}') as Record<string, unknown>;
}

export interface NodeModel {
  readonly values: NodeValues;
  readonly owned: Readonly<Record<KeyKind, ReadonlySet<string>>>;
  /** Of other controllers. */
  readonly jobs: typeof JOBS | undefined;
}

export function modelOf(found: KubeObject): NodeModel {
  const record = recordOn(found) as Partial<Record<KeyKind, readonly string[]>> & { jobs?: typeof JOBS };
  const owned = (kind: KeyKind) => new Set(record[kind]);
  return {
    values: valuesOn(found),
    owned: { labels: owned('labels'), annotations: owned('annotations'), taints: owned('taints') },
    jobs: record.jobs,
  };
}

/** What has to be there after a reconcile of the Node that the model describes. */
export function reconciledModel(model: NodeModel, step: EditStep): NodeModel {
  const declared = { ...step.declared, labels: { ...step.declared.labels, [MACHINE_LABEL]: 'm' } };
  const synced = (kind: KeyKind) => {
    const isPostponed = (key: string) => kind === 'taints' && !step.mayEvict && key.endsWith(':NoExecute');
    return syncedKeys(declared[kind], { values: model.values[kind], owned: model.owned[kind], isPostponed });
  };
  const [labels, annotations, taints] = [synced('labels'), synced('annotations'), synced('taints')];
  if (step.removeStartupTaint) taints.values.delete(STARTUP_TAINT);
  return {
    values: { labels: labels.values, annotations: annotations.values, taints: taints.values },
    owned: { labels: labels.owned, annotations: annotations.owned, taints: taints.owned },
    jobs: model.jobs,
  };
}

interface OwnedValues {
  readonly values: Map<string, string>;
  readonly owned: ReadonlySet<string>;
  readonly isPostponed: (key: string) => boolean;
}

function syncedKeys(
  declared: Texts,
  { values, owned, isPostponed }: OwnedValues,
): Omit<OwnedValues, 'isPostponed'> {
  const after = new Map(values);
  for (const key of owned) if (!Object.hasOwn(declared, key)) after.delete(key);
  const ours = Object.entries(declared).filter(([key, value]) => {
    const present = values.get(key);
    const mayWrite = owned.has(key) || present === undefined;
    if (present?.split('@')[0] === value || !mayWrite || isPostponed(key)) return owned.has(key);
    after.set(key, value);
    return true;
  });
  return { values: after, owned: new Set(ours.map(([key]) => key)) };
}

const THEIR_TIME = '2030-01-01T00:00:00Z';

interface TimedTaint extends Taint {
  readonly timeAdded?: string;
}

function taintFrom(id: string, text: string): TimedTaint {
  const [key = '', effect] = id.split(':');
  const [value = '', timeAdded] = text.split('@');
  return {
    key,
    effect: effect as Taint['effect'],
    ...(value === '' ? {} : { value }),
    ...(timeAdded === undefined ? {} : { timeAdded }),
  };
}

function timedText({ value = '', timeAdded }: Pick<TimedTaint, 'value' | 'timeAdded'>): string {
  return timeAdded === undefined ? value : `${value}@${timeAdded}`;
}
