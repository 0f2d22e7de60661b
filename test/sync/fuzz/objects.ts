/** Objects that a commit may declare: plain ones, and every odd shape that once kept a cluster from moving on. */
import fc from 'fast-check';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { configMap, crd, DENIED_GROUP, GRANTED_GROUP, gadget } from './content.ts';
import {
  anyNamespace,
  hostile,
  oddApiVersion,
  oddName,
  oddNamespace,
  plainName,
  UNREADABLE,
} from './texts.ts';

const plain = fc.record({
  name: plainName,
  namespace: anyNamespace,
  value: fc.constantFrom('1', '2', 'good'),
});
const plainConfigMap = plain.map(({ name, namespace: space, value }) => configMap(name, { value }, space));

const oddlyNamed = fc
  .record({ name: oddName, namespace: fc.option(fc.oneof(anyNamespace, oddNamespace), { nil: undefined }) })
  .map(({ name, namespace: space }) => withNamespace(configMap(name, { value: 'odd' }), space));

const inOddNamespace = oddNamespace.map((space) => configMap('a', { value: 'odd' }, space));

const ofOddVersion = fc
  .record({ apiVersion: oddApiVersion, kind: fc.constantFrom('ConfigMap', 'Gadget', 'Deployment', '../x') })
  .map(({ apiVersion, kind }) => ({ ...configMap('a', {}), apiVersion, kind }));

/** Cluster-scoped with a namespace, and namespaced without one. */
const ofWrongScope = fc.constantFrom<KubeObject>(
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'scoped', namespace: 'default' } },
  { ...crd('scoped.example.com'), metadata: { name: 'gadgets.scoped.example.com', namespace: 'default' } },
  { ...priorityClass('scoped'), metadata: { name: 'scoped', namespace: 'default' } },
  withNamespace(configMap('scoped', {}), undefined),
  withNamespace(gadget(GRANTED_GROUP, 'scoped'), undefined),
);

const unreadable = fc
  .record({ of: fc.constantFrom(...UNREADABLE), name: plainName, namespace: anyNamespace })
  .map(({ of: [apiVersion, kind], name, namespace: space }) => ({
    apiVersion,
    kind,
    metadata: { name, namespace: space },
  }));

/** Data that is not text, in a Secret whose values must not be printed. */
const oddSecret = fc
  .constantFrom<Readonly<Record<string, unknown>>>(
    { stringData: { p: 4_815_162_342 } },
    { stringData: { p: { q: 1 } } },
    { stringData: { p: ['x'] } },
    { data: { p: 'not base64!' } },
    { data: 'text' },
    { data: { 'a/b': 'eA==' } },
    { type: 'kubernetes.io/tls', data: {} },
    { immutable: true, data: { p: 'eA==' } },
  )
  .map((fields) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'odd', namespace: 'default' },
    ...fields,
  }));

const withOddFields = fc
  .constantFrom<Readonly<Record<string, unknown>>>(
    { data: { value: 1 } },
    { data: 'text' },
    { data: null },
    { data: { 'a/b': 'x' } },
    { misspelt: true },
    { immutable: true },
    { binaryData: { value: '!' } },
    { data: { value: '1' }, binaryData: { value: 'eA==' } },
  )
  .chain((fields) => plainConfigMap.map((object) => ({ ...object, ...fields })));

const withOddMetadata = fc
  .constantFrom<Readonly<Record<string, unknown>>>(
    { annotations: 'a' },
    { annotations: { a: 1 } },
    { labels: { 'a b': 'x' } },
    { labels: ['x'] },
    { labels: { a: 'x'.repeat(64) } },
    { annotations: { big: 'x'.repeat(300_000) } },
    { finalizers: ['example.com/in-git'] },
    { finalizers: ['no-slash'] },
    { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'not-a-uid' }] },
    { annotations: { 'kubenode.dev/prune': 'Never' } },
    { annotations: { 'kubenode.dev/replace': 'Allowed' } },
    { labels: { 'fuzz.example.com/denied': 'true' } },
    { creationTimestamp: null },
    { managedFields: null },
  )
  .chain((fields) =>
    plainConfigMap.map((object) => ({ ...object, metadata: { ...object.metadata, ...fields } })),
  );

const withHostileText = fc.record({ text: hostile, object: plainConfigMap }).map(({ text, object }) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { 'example.com/note': text } },
  data: { value: text },
}));

const big = fc
  .constantFrom(200_000, 900_000, 1_100_000, 1_600_000)
  .map((size) => configMap('big', { value: 'x'.repeat(size) }));

/** A kind and an object of it in one commit need two edits; alone, each has to wait or fail on its own. */
const customKinds = fc.constantFrom<KubeObject>(
  crd(DENIED_GROUP),
  gadget(DENIED_GROUP, 'a'),
  crd(`other.${GRANTED_GROUP}`),
  gadget(`other.${GRANTED_GROUP}`, 'a'),
  gadget(GRANTED_GROUP, 'c'),
  { ...crd(GRANTED_GROUP), spec: { group: GRANTED_GROUP } },
  { ...crd('broken.example.com'), spec: { ...record(crd(DENIED_GROUP)['spec']), scope: 'Sometimes' } },
);

/** Fields that the server refuses to change once they are set. */
const withImmutableFields = fc.constantFrom('1', '2').chain((value) =>
  fc.constantFrom<KubeObject>(
    { ...configMap('immutable', { value }), immutable: true },
    { ...priorityClass('immutable'), value: Number(value) },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'immutable', namespace: 'default' },
      spec: { clusterIP: value === '1' ? 'None' : '', ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'immutable', namespace: 'default' },
      spec: deploymentSpec(value),
    },
  ),
);

const namespaces = fc
  .constantFrom('missing', 'extra')
  .map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));

/** One of these makes sync refuse the whole commit, so that nothing of it is applied. */
export const refusedObject: fc.Arbitrary<KubeObject> = fc.oneof(oddlyNamed, inOddNamespace, ofOddVersion);

/** Accepted by sync, and for many of them refused by the server. */
export const anyObject: fc.Arbitrary<KubeObject> = fc.oneof(
  { weight: 6, arbitrary: plainConfigMap },
  { weight: 2, arbitrary: ofWrongScope },
  { weight: 2, arbitrary: unreadable },
  { weight: 2, arbitrary: oddSecret },
  { weight: 2, arbitrary: withOddFields },
  { weight: 3, arbitrary: withOddMetadata },
  { weight: 1, arbitrary: withHostileText },
  { weight: 1, arbitrary: big },
  { weight: 4, arbitrary: customKinds },
  { weight: 3, arbitrary: withImmutableFields },
  { weight: 2, arbitrary: namespaces },
);

export const anyFields: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  fc.constantFrom('1', '2').map((value) => ({ data: { value } })),
  fc.constantFrom<Readonly<Record<string, unknown>>>(
    { immutable: true },
    { data: { value: 1 } },
    { spec: {} },
  ),
);

function withNamespace({ metadata, ...object }: KubeObject, namespace: string | undefined): KubeObject {
  const { name } = metadata;
  return { ...object, metadata: namespace === undefined ? { name } : { name, namespace } };
}

function priorityClass(name: string): KubeObject {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value: 1 };
}

function deploymentSpec(value: string): Readonly<Record<string, unknown>> {
  const labels = { app: value };
  const containers = [{ name: 'main', image: 'example.com/none' }];
  return {
    replicas: 0,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return value as Readonly<Record<string, unknown>>;
}
