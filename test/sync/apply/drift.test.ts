import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import {
  comparedBefore,
  driftedFields,
  matchedBefore,
  matchesDesired,
  projectionOf,
} from '../../../src/sync/apply/drift.ts';
import { configMap } from './fixtures.ts';

function deployment(spec: object, annotations?: Record<string, string>): KubeObject {
  const metadata = { name: 'web', namespace: 'default', ...(annotations ? { annotations } : {}) };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
}

const containers = [{ name: 'app', image: 'app:1', args: ['-v'] }];

describe('drift', () => {
  it.each<[name: string, desired: KubeObject, live: KubeObject, drifted: string[]]>([
    ['finds none in equal objects', deployment({ replicas: 2 }), deployment({ replicas: 2 }), []],
    [
      'ignores a field that git does not set',
      deployment({ replicas: 2 }),
      deployment({ replicas: 2, paused: true }),
      [],
    ],
    ['names a changed field', deployment({ replicas: 2 }), deployment({ replicas: 3 }), ['spec.replicas']],
    ['names a removed field', deployment({ replicas: 2 }), deployment({}), ['spec.replicas']],
    [
      'ignores a field that another manager added to an item of a list',
      deployment({ containers }),
      deployment({ containers: [{ ...containers[0], imagePullPolicy: 'Always' }] }),
      [],
    ],
    [
      'names the item of a list by its name',
      deployment({ containers }),
      deployment({ containers: [{ ...containers[0], image: 'app:2' }] }),
      ['spec.containers[app].image'],
    ],
    [
      'names an item that somebody added to a list',
      deployment({ containers }),
      deployment({ containers: [...containers, { name: 'sidecar' }] }),
      ['spec.containers[sidecar].name'],
    ],
    [
      'ignores the annotations that name commit and source',
      deployment({}, { 'kubenode.dev/commit': 'a', 'kubenode.dev/source': 'x:1' }),
      deployment({}, { 'kubenode.dev/commit': 'b' }),
      [],
    ],
    [
      'names at most three fields',
      deployment({ a: 1, b: 1, c: 1, d: 1 }),
      deployment({}),
      ['spec.a', 'spec.b', 'spec.c'],
    ],
    ['takes a missing field for null', deployment({ a: null }), deployment({}), []],
  ])('%s', (_name, desired, live, drifted) => {
    expect(driftedFields(desired, live)).toEqual(drifted);
    expect(matchesDesired(desired, live)).toBe(drifted.length === 0);
  });

  it('projects the same text for objects that differ only in fields that git does not set', () => {
    const desired = deployment({ cpu: '1000m' });
    expect(projectionOf(desired, deployment({ cpu: '1' }))).toBe(
      projectionOf(desired, deployment({ cpu: '1', more: true })),
    );
    expect(projectionOf(desired, deployment({ cpu: '2' }))).not.toBe(
      projectionOf(desired, deployment({ cpu: '1' })),
    );
  });

  it('finds a match exactly where the projection is the text of what git declares', () => {
    // Few keys and values, so that objects often agree.
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, true, 0, 1, '', 'a', '0'),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('a', 'b', '1', '__proto__'), tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, json, (desired, live) => {
        const [mine, theirs] = [deployment({ desired }), deployment({ desired: live })];
        expect(matchesDesired(mine, theirs)).toBe(projectionOf(mine, theirs) === canonicalJson(mine));
      }),
      { numRuns: 500 },
    );
  });
});

describe('comparisons of live objects', () => {
  const content = { unit: 'web', digest: 'sha256:1', ignored: [] };

  it('are made once for the same object and the same content', () => {
    const found = configMap('a');
    let made = 0;
    const compare = (): boolean => {
      made += 1;
      return true;
    };
    expect([comparedBefore(found, content, compare), comparedBefore(found, content, compare)]).toEqual([
      true,
      true,
    ]);
    expect(made).toBe(1);
    comparedBefore(found, { ...content, digest: 'sha256:2' }, compare);
    comparedBefore({ ...found }, content, compare);
    comparedBefore(found, { ...content, ignored: ['spec.replicas'] }, compare);
    expect(made).toBe(4);
  });

  it('prove a match for exactly what was compared', () => {
    const [matching, other] = [configMap('a'), configMap('a')];
    comparedBefore(matching, content, () => true);
    comparedBefore(other, content, () => false);
    expect(matchedBefore(matching, content)).toBe(true);
    expect(matchedBefore(matching, { ...content, digest: 'sha256:2' })).toBe(false);
    expect(matchedBefore(matching, { ...content, unit: 'other' })).toBe(false);
    expect(matchedBefore(matching, { ...content, ignored: ['data.a'] })).toBe(false);
    expect(matchedBefore(other, content)).toBe(false);
    expect(matchedBefore(configMap('a'), content)).toBe(false);
  });
});
