import { expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { unsupportedFields } from '../../../src/sync/judge/unsupported.ts';

const STAGES = [{ name: 'test', clusterSelector: { all: true } }];

function pipeline(spec: object = {}, sourceFields: object = {}): KubeObject {
  const source = { repository: 'https://git.example.com/fleet', ...sourceFields };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: { source, stages: STAGES, ...spec },
  };
}

function cluster(spec: object): KubeObject {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Cluster', metadata: { name: 'prod' }, spec };
}

it.each<[path: string, object: KubeObject]>([
  ['spec.source.signatures', pipeline({}, { signatures: 'Range' })],
  ['spec.source.sopsKeysRef', pipeline({}, { sopsKeysRef: { name: 'a', key: 'b' } })],
  ['spec.onFailure', pipeline({ onFailure: 'PushRevert' })],
  [
    'spec.freezes',
    pipeline({
      freezes: [{ name: 'x', from: '2030-01-01T00:00:00Z', until: '2030-01-02T00:00:00Z', reason: 'y' }],
    }),
  ],
  ['spec.identities', pipeline({ identities: [{ unit: 'web', serviceAccount: 'a' }] })],
  [
    'spec.stages[0].windows',
    pipeline({
      stages: [
        {
          ...STAGES[0],
          windows: [{ name: 'w', days: ['Mon'], start: '09:00', end: '10:00', timeZone: 'UTC' }],
        },
      ],
    }),
  ],
  ['spec.stages[0].approvalByOther', pipeline({ stages: [{ ...STAGES[0], approvalByOther: true }] })],
  [
    'spec.stages[0].checks[0].cel',
    pipeline({
      stages: [{ ...STAGES[0], checks: [{ name: 'c', cel: { kind: 'Machine', expression: 'true' } }] }],
    }),
  ],
  ['spec.pauses', cluster({ pauses: [{ reason: 'x' }] })],
  ['spec.hosted', cluster({ hosted: {} })],
])('refuses %s, which sync does not implement yet', (path, object) => {
  expect(unsupportedFields(object)).toEqual([
    `${path}: not implemented in this version of kubenode: remove it`,
  ]);
});

it('accepts the values that mean that nothing is requested', () => {
  expect(unsupportedFields(pipeline({ onFailure: 'Stop', freezes: [] }, { signatures: 'None' }))).toEqual([]);
});

it('ignores kinds of other groups', () => {
  expect(
    unsupportedFields({ ...pipeline({ onFailure: 'PushRevert' }), apiVersion: 'example.com/v1' }),
  ).toEqual([]);
});
