import { describe, expect, it } from 'vitest';
import { validate } from '../../../src/api/validation/validate.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { type Accepted, accepted, refused } from '../fixtures/load.ts';

describe('validate agrees with the API server', () => {
  it.each(accepted().flatMap(writes))('accepts: $it', ({ object }) => {
    expect(validate(object)).toEqual([]);
  });

  it.each(refused().filter(({ by }) => by === 'schema'))('reports the same path: $it', (written) => {
    expect(validate(lastOf(written)).map(({ path }) => path)).toContain(written.field);
  });

  it.each(refused().filter(({ by }) => by === 'cel'))('accepts what only CEL refuses: $it', (written) => {
    expect(validate(lastOf(written))).toEqual([]);
  });
});

/** Of one accepted object of each kind, a part is replaced; the rest is fine. */
describe('validate reports', () => {
  it.each<[says: string, kind: string, change: (object: Loose) => void]>([
    [
      'apiVersion: must be kubenode.dev/v1alpha1; unknown version "v2"',
      'Cluster',
      (o) => (o.apiVersion = 'kubenode.dev/v2'),
    ],
    [
      'kind: kubenode.dev/v1alpha1 has no kind "Clutser"; did you mean Cluster?',
      'Cluster',
      (o) => (o.kind = 'Clutser'),
    ],
    ['kind: kubenode.dev/v1alpha1 has no kind "Deployment"', 'Cluster', (o) => (o.kind = 'Deployment')],
    ['kind: is required', 'Cluster', (o) => delete o.kind],
    ['spec: is required', 'Cluster', (o) => delete (o as { spec?: unknown }).spec],
    ['spec: must be a map of fields', 'Cluster', (o) => Object.assign(o, { spec: [] })],
    ['stats: unknown field; did you mean status?', 'Cluster', (o) => (o['stats'] = {})],
    ['metadata.lables: unknown field; did you mean labels?', 'Cluster', (o) => (o.metadata['lables'] = {})],
    ['metadata.name: is required', 'Cluster', (o) => delete o.metadata['name']],
    [
      'metadata.name: must be lower-case letters, digits, "-" and ".", with a letter or digit at both ends, such as prod-eu-1',
      'Cluster',
      (o) => (o.metadata['name'] = 'Prod_1'),
    ],
    [
      'metadata.name: may have at most 63 characters',
      'Cluster',
      (o) => (o.metadata['name'] = 'a'.repeat(64)),
    ],
    [
      'metadata.labels.team: must be letters, digits, "-", "_" and ".", with a letter or digit at both ends',
      'Cluster',
      (o) => (o.metadata['labels'] = { team: 'a b' }),
    ],
    ['metadata.labels.team: must be text', 'Cluster', (o) => (o.metadata['labels'] = { team: 7 })],
    [
      'spec.enviroment: unknown field; did you mean environment?',
      'Cluster',
      (o) => (o.spec['enviroment'] = 'test'),
    ],
    ['spec.colour: unknown field', 'Cluster', (o) => (o.spec['colour'] = 'red')],
    [
      'spec.environment: must be one of test, pre, prod',
      'Cluster',
      (o) => (o.spec['environment'] = 'staging'),
    ],
    ['spec.region: must be text', 'Cluster', (o) => (o.spec['region'] = 7)],
    ['spec.region: may have at most 256 characters', 'Cluster', (o) => (o.spec['region'] = 'r'.repeat(257))],
    ['spec.paused: must be true or false', 'Cluster', (o) => (o.spec['paused'] = 'yes')],
    ['spec.deletion: must be a map of fields', 'Cluster', (o) => (o.spec['deletion'] = 'Orphan')],
    [
      'spec.deletion.timeoutSeconds: must be at least 60',
      'Cluster',
      (o) => (o.spec['deletion'] = { timeoutSeconds: 1 }),
    ],
    ['spec.stages: needs at least 1 entry', 'Pipeline', (o) => (o.spec['stages'] = [])],
    [
      'spec.stages[1]: is a duplicate: an earlier entry has the same key',
      'Pipeline',
      (o) => (o.spec['stages'] = [stage('a'), stage('a')]),
    ],
    ['spec.stages[0].name: must not be empty', 'Pipeline', (o) => (o.spec['stages'] = [stage('')])],
    [
      'spec.stages[0].maxFailedClusters: must be a number, or a percentage such as "10%"',
      'Pipeline',
      (o) => (o.spec['stages'] = [{ ...stage('a'), maxFailedClusters: '101%' }]),
    ],
    [
      'spec.stages[0].maxFailedClusters: must be a number, or a percentage such as "10%"',
      'Pipeline',
      (o) => (o.spec['stages'] = [{ ...stage('a'), maxFailedClusters: true }]),
    ],
    ['spec.historyLimit: must be a whole number', 'Pipeline', (o) => (o.spec['historyLimit'] = 1.5)],
    [
      'spec.notBefore: must be a time in RFC 3339, such as 2026-11-20T07:00:00Z',
      'MaintenanceEvent',
      (o) => (o.spec['notBefore'] = '2026-13-01T00:00:00Z'),
    ],
    [
      'spec.rule.conditions: give exactly one of all, any, and fact with path, operator and value',
      'NodeRemedier',
      (o) => Object.assign(o.spec['rule'] as object, { conditions: {} }),
    ],
    [
      'spec.rule.conditions.operator: is required',
      'NodeRemedier',
      (o) => Object.assign(o.spec['rule'] as object, { conditions: { fact: 'disk', path: '$.a', value: 1 } }),
    ],
  ])('%s', (says, kind, change) => {
    const object = structuredClone(firstOf(kind));
    change(object);
    expect(validate(object).map(({ path, message }) => `${path}: ${message}`)).toEqual([says]);
  });

  it('all problems, one for each path', () => {
    const object = structuredClone(firstOf('Cluster'));
    Object.assign(object.spec, { environment: 3, paused: 'no', colour: 'red' });
    const paths = validate(object).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(['spec.colour', 'spec.environment', 'spec.paused']);
  });

  it('no problem of objects of other API groups', () => {
    expect(validate({ apiVersion: 'apps/v1', kind: 'Deployment' })).toEqual([]);
    expect(validate({ apiVersion: 'v1', kind: 'Cluster' })).toEqual([]);
    expect(validate({ apiVersion: 7 })).toEqual([]);
    expect(validate({})).toEqual([]);
  });

  it('no problem of a null, which stands for an absent field', () => {
    const object = structuredClone(firstOf('Cluster'));
    Object.assign(object.spec, { paused: null, deletion: null, pauses: null, region: null });
    object.metadata['labels'] = null;
    expect(validate(object)).toEqual([]);
  });

  it('a null in a required field, in an unknown field and in a list', () => {
    const object = structuredClone(firstOf('Pipeline'));
    Object.assign(object.spec, { stages: null, colour: null, forceManagers: [null] });
    expect(validate(object)).toEqual([
      { path: 'spec.stages', message: 'is required' },
      { path: 'spec.forceManagers[0]', message: 'must be text' },
      { path: 'spec.colour', message: 'unknown field' },
    ]);
  });
});

interface Loose {
  apiVersion?: unknown;
  kind?: unknown;
  readonly metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
  [field: string]: unknown;
}

function lastOf({ object, update }: Accepted): KubeObject {
  return update ?? object;
}

function firstOf(kind: string): Loose {
  const found = accepted().find((written) => written.kind === kind);
  if (!found) throw new Error(`the corpus has no ${kind}`);
  return found.object as unknown as Loose;
}

function writes({ it: title, object, update }: Accepted): { it: string; object: KubeObject }[] {
  return [{ it: title, object }, ...(update ? [{ it: `${title}, after the update`, object: update }] : [])];
}

function stage(name: string): object {
  return { name, clusterSelector: { all: true } };
}
