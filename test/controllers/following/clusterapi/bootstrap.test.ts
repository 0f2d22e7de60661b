import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_BOOTSTRAP } from '../../../../src/api/names.ts';
import {
  ANNOTATION_UPDATING,
  type ForeignConfig,
  foreignMachine,
  kubeadmConfigName,
} from '../../../../src/controllers/following/clusterapi/contract.ts';
import { trimConfig } from '../../../../src/controllers/following/clusterapi/observe/config-source.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type FollowCase, planOf } from './cases.ts';
import { ours, theirObject, theirs } from './objects.ts';

const CONFIG: ForeignConfig = { namespace: 'fleet', name: 'md-1', isUpdating: false, files: { '/a': '1' } };
const THEIRS = theirs(1, { kubeadmConfig: 'md-1', version: 'v1' });
const RECORD = '{"files":{"/a":"1"},"version":"v1"}';

function recorded(record: string | undefined): Machine {
  const own = ours(1);
  const annotations = record === undefined ? {} : { [ANNOTATION_BOOTSTRAP]: record };
  return { ...own, metadata: { ...own.metadata, annotations } };
}

/** Returns what is written, or undefined where nothing is. */
function written(before: string | undefined, parts: FollowCase): string | undefined {
  const [action] = planOf({ theirs: [THEIRS], ours: [recorded(before)], ...parts }).actions;
  return action?.type === 'Update' ? action.desired.bootstrap : undefined;
}

function nameIn(configRef: object): string | undefined {
  return kubeadmConfigName({ ...theirObject(1), spec: { bootstrap: { configRef } } });
}

describe('the record of a bootstrap config on a Machine', () => {
  it('CAP-18 is written once its KubeadmConfig was read, and follows it', () => {
    expect(written(undefined, { configs: [CONFIG] })).toBe(RECORD);
    expect(written(RECORD, { configs: [CONFIG] })).toBeUndefined();
    const files = { '/a': '2' };
    expect(written(RECORD, { configs: [{ ...CONFIG, files }] })).toBe('{"files":{"/a":"2"},"version":"v1"}');
  });

  it('CAP-18 is kept while the KubeadmConfig cannot be read, or theirs cannot', () => {
    expect(written(RECORD, { configs: [] })).toBeUndefined();
    expect(written(RECORD, { configs: [{ ...CONFIG, namespace: 'other' }] })).toBeUndefined();
    const [held] = planOf({ ours: [recorded(RECORD)], unreadable: 'forbidden' }).actions;
    expect(held).toMatchObject({ type: 'Update', desired: { bootstrap: RECORD } });
  });

  it.each<[name: string, parts: FollowCase]>([
    ['the config', { configs: [{ ...CONFIG, isUpdating: true, files: { '/a': '2' } }] }],
    [
      'the Machine',
      {
        theirs: [{ ...THEIRS, annotations: { [ANNOTATION_UPDATING]: '' } }],
        configs: [{ ...CONFIG, files: { '/a': '2' } }],
      },
    ],
  ])('CAP-18 does not know what changes during an update of %s', (_, parts) => {
    expect(written(RECORD, parts)).toBe('{"files":{"/a":""},"version":"v1"}');
    expect(written(undefined, parts)).toBeUndefined();
  });

  it('is read from the reference of both versions, and from no other provider', () => {
    const group = 'bootstrap.cluster.x-k8s.io';
    expect(nameIn({ apiGroup: group, kind: 'KubeadmConfig', name: 'a' })).toBe('a');
    expect(nameIn({ apiVersion: `${group}/v1beta1`, kind: 'KubeadmConfig', name: 'a' })).toBe('a');
    expect(nameIn({ apiGroup: group, kind: 'OtherConfig', name: 'a' })).toBeUndefined();
    expect(nameIn({ apiGroup: 'other.io', kind: 'KubeadmConfig', name: 'a' })).toBeUndefined();
    expect(foreignMachine(theirObject(1)).kubeadmConfig).toBeUndefined();
  });

  it('keeps no content and no token of a config in memory', () => {
    const joinConfiguration = { discovery: { bootstrapToken: { token: 'secret-token' } } };
    const spec = { files: [{ path: '/a', content: 'secret-content' }], joinConfiguration };
    const metadata = {
      namespace: 'fleet',
      name: 'md-1',
      annotations: { other: 'x', [ANNOTATION_UPDATING]: '' },
    };
    const config: KubeObject = { apiVersion: 'x/v1', kind: 'KubeadmConfig', metadata, spec };
    const kept = trimConfig(config);
    expect(JSON.stringify(kept)).not.toMatch(/secret/);
    expect(textAt(kept, 'digests', '/a')).toMatch(/^[0-9a-f]{16}$/);
    expect(kept.metadata.annotations).toEqual({ [ANNOTATION_UPDATING]: '' });
  });
});
