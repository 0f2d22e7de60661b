/** The content of a commit for one cluster, and the edits that lead from one commit to the next. Pure. */
import { ANNOTATION_REPLACE, REPLACE_ALLOWED } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

/** Objects by unit. */
export type Content = Readonly<Record<string, readonly KubeObject[]>>;

export type Edit =
  | { readonly edit: 'put'; readonly unit: string; readonly object: KubeObject }
  /** Many plain objects at once. */
  | { readonly edit: 'put-many'; readonly unit: string; readonly count: number }
  /** `nth` counts the declared objects, and starts again at the end. */
  | { readonly edit: 'change'; readonly nth: number; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly edit: 'remove'; readonly nth: number }
  | { readonly edit: 'move'; readonly nth: number; readonly unit: string }
  /** Merges the units if the new name is taken. */
  | { readonly edit: 'rename-unit'; readonly unit: string; readonly to: string }
  | { readonly edit: 'empty-unit'; readonly unit: string }
  | { readonly edit: 'empty-cluster' }
  /** Not even the calm unit is left. */
  | { readonly edit: 'drop-cluster' };

/** The unit that every commit contains, and that no edit touches: it has to arrive whatever else a commit contains. */
export const CALM_UNIT = 'calm';
const BEAT = { name: 'beat', namespace: 'default' };

export function withBeat(content: Content, value: string): Content {
  return { ...content, [CALM_UNIT]: [configMap(BEAT.name, { value })] };
}

export function applyEdits(content: Content, edits: readonly Edit[]): Content {
  return edits.reduce(applyEdit, content);
}

type EditOf<K extends Edit['edit']> = Extract<Edit, { edit: K }>;

const EDITS: { readonly [K in Edit['edit']]: (content: Content, edit: EditOf<K>) => Content } = {
  put: (content, { unit, object }) => put(content, unit, [object]),
  'put-many': (content, { unit, count }) => {
    const names = Array.from({ length: count }, (_, index) => `many-${index}`);
    return put(
      content,
      unit,
      names.map((name) => configMap(name, { value: unit })),
    );
  },
  change: (content, { nth, fields }) => mapNth(content, nth, (object) => [{ ...object, ...fields }]),
  remove: (content, { nth }) => mapNth(content, nth, () => []),
  move(content, { nth, unit }) {
    const object = nthObject(content, nth);
    return object
      ? put(
          mapNth(content, nth, () => []),
          unit,
          [object],
        )
      : content;
  },
  'rename-unit': (content, { unit, to }) => put({ ...content, [unit]: [] }, to, content[unit] ?? []),
  'empty-unit': (content, { unit }) => ({ ...content, [unit]: [] }),
  'drop-cluster': () => ({}),
  'empty-cluster': (content) => Object.fromEntries(Object.keys(content).map((unit) => [unit, []])),
};

function applyEdit(content: Content, edit: Edit): Content {
  return (EDITS[edit.edit] as (content: Content, edit: Edit) => Content)(content, edit);
}

/** An object of the same identity is replaced: one that is declared twice only holds the whole commit. */
function put(content: Content, unit: string, objects: readonly KubeObject[]): Content {
  const added = new Set(objects.map(identity));
  const entries = Object.entries({ [unit]: [], ...content }).map(([name, present]) => {
    const kept = present.filter((object) => !added.has(identity(object)));
    return [name, name === unit ? [...kept, ...objects] : kept] as const;
  });
  return Object.fromEntries(entries);
}

function mapNth(content: Content, nth: number, map: (object: KubeObject) => readonly KubeObject[]): Content {
  const chosen = nthObject(content, nth);
  const mapped = Object.entries(content).map(([unit, objects]) => [
    unit,
    objects.flatMap((object) => (object === chosen ? map(object) : [object])),
  ]);
  return Object.fromEntries(mapped) as Content;
}

function nthObject(content: Content, nth: number): KubeObject | undefined {
  const all = Object.entries(content).flatMap(([unit, objects]) => (unit === CALM_UNIT ? [] : objects));
  return all[nth % Math.max(all.length, 1)];
}

function identity({ apiVersion, kind, metadata }: KubeObject): string {
  return JSON.stringify([apiVersion, kind, metadata.namespace, metadata.name]);
}

export function configMap(
  name: string,
  data: Readonly<Record<string, unknown>>,
  namespace = 'default',
): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

/** Of this group sync may read and write every kind; of any other group it may not. */
export const GRANTED_GROUP = 'granted.example.com';
/** Of an aggregated API whose service may be down. */
export const DOWN_GROUP = 'down.example.com';
export const DENIED_GROUP = 'denied.example.com';
export const FUZZ_NAMESPACE = 'fuzz';

/** May be replaced: a commit may have set fields that no server takes back, such as `immutable`. */
function replaceable(name: string, namespace = 'default'): KubeObject {
  const annotations = { [ANNOTATION_REPLACE]: REPLACE_ALLOWED };
  const object = configMap(name, { value: 'good' }, namespace);
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The commit that every sequence starts from, and is reverted to: the shapes that a fleet has. */
export const GOOD: Content = withBeat(
  {
    web: ['a', 'b', 'c', 'd'].map((name) => replaceable(name)),
    space: [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: FUZZ_NAMESPACE } },
      ...['a', 'b'].map((name) => replaceable(name, FUZZ_NAMESPACE)),
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'runner', namespace: FUZZ_NAMESPACE },
      },
    ],
    gadgets: [crd(GRANTED_GROUP), gadget(GRANTED_GROUP, 'a'), gadget(GRANTED_GROUP, 'b')],
  },
  'good',
);

export function crd(group: string): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

export function gadget(group: string, name: string, namespace = 'default'): KubeObject {
  return { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name, namespace }, spec: { size: 1 } };
}
