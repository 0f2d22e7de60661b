import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import { MANAGER_CLUSTERAPI_UPDATE } from '../../../../../src/api/names.ts';
import {
  createUpdateExtension,
  type UpdateExtension,
} from '../../../../../src/controllers/following/clusterapi/extension/extension.ts';
import type { ApplyOptions } from '../../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../../src/kube/objects/object.ts';
import { memoryLog } from '../../../../support/memory-log.ts';
import { theirObject } from '../objects.ts';
import { facts, NEW, updatable } from './facts.ts';

const UPDATING = { 'in-place-updates.internal.cluster.x-k8s.io/update-in-progress': '' };
const REQUEST = {
  desired: { machine: { metadata: { namespace: 'fleet', name: 'md-1' }, spec: { version: 'v1.34.2' } } },
};

interface Applied {
  readonly object: KubeObject;
  readonly options: ApplyOptions;
}

describe('the update extension', () => {
  it('CAP-06 writes the kubelet alone, on the version of the Machine that it judged, and begins once', async () => {
    const { extension, applied } = open();
    expect(await extension.answer('UpdateMachine', REQUEST)).toMatchObject({
      status: 'Success',
      retryAfterSeconds: 10,
    });
    expect(applied).toMatchObject([
      {
        object: {
          metadata: { name: 'node-1', resourceVersion: '7' },
          spec: { components: [{ componentRef: NEW.componentRef, digest: NEW.digest }] },
        },
        options: { fieldManager: MANAGER_CLUSTERAPI_UPDATE, force: true },
      },
    ]);
    expect(Object.keys(applied[0]?.object['spec'] ?? {})).toEqual(['components']);
  });

  it('CAP-06 writes nothing for a request that the API server does not confirm', async () => {
    const { extension, applied } = open({ annotations: {} });
    expect(await extension.answer('UpdateMachine', REQUEST)).toMatchObject({
      status: 'Failure',
      message: 'Machine fleet/md-1 of Cluster API does not ask for an update to v1.34.2',
    });
    expect(applied).toEqual([]);
  });

  it('CAP-06 judges a Machine again that changed meanwhile', async () => {
    const { extension } = open({ applyError: kubeError('Conflict') });
    expect(await extension.answer('UpdateMachine', REQUEST)).toMatchObject({
      status: 'Success',
      retryAfterSeconds: 1,
    });
  });

  it('CAP-05 answers Failure while something is unknown, so that nothing is replaced for it', async () => {
    const { extension } = open({ unknown: 'Machine: initial list not complete' });
    const machine = { metadata: { namespace: 'fleet', name: 'md-1' }, spec: {} };
    const question = { current: { machine }, desired: { machine } };
    for (const [hook, body] of [
      ['CanUpdateMachine', question],
      ['UpdateMachine', REQUEST],
    ] as const) {
      expect(await extension.answer(hook, body)).toMatchObject({
        status: 'Failure',
        message: 'Machine: initial list not complete',
      });
    }
    expect(await extension.answer('CanUpdateMachineSet', {})).toMatchObject({ status: 'Failure' });
  });
});

interface Parts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly applyError?: Error;
  readonly unknown?: string;
}

function open({ annotations = UPDATING, applyError, unknown }: Parts = {}): {
  readonly extension: UpdateExtension;
  readonly applied: readonly Applied[];
} {
  const applied: Applied[] = [];
  const base = updatable(1);
  const machine: Machine = { ...base, metadata: { ...base.metadata, resourceVersion: '7' } };
  const theirs = theirObject(1);
  const spec = { ...(theirs['spec'] as object), version: 'v1.34.2' };
  const stored = { ...theirs, metadata: { ...theirs.metadata, annotations }, spec };
  const extension = createUpdateExtension({
    theirs: { get: async <T>() => stored as T },
    client: {
      get: async <T>({ group }: Resource) => {
        expect(group).toBe('kubenode.dev');
        return machine as T;
      },
      apply: async <T>(_: Resource, object: KubeObject, options: ApplyOptions) => {
        if (applyError) throw applyError;
        applied.push({ object, options });
        return object as T;
      },
    },
    facts: async () => {
      if (unknown !== undefined) throw new Error(unknown);
      return facts([machine]);
    },
    log: memoryLog(),
  });
  return { extension, applied };
}

function kubeError(code: 'Conflict'): Error {
  return new KubeError(code, 'conflict');
}
