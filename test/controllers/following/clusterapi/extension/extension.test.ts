import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import { MANAGER_CLUSTERAPI_UPDATE } from '../../../../../src/api/names.ts';
import {
  createUpdateExtension,
  type UpdateExtension,
} from '../../../../../src/controllers/following/clusterapi/extension/extension.ts';
import type { EntryRules } from '../../../../../src/controllers/following/clusterapi/extension/kubelet-version.ts';
import type { ApplyOptions } from '../../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../../src/kube/objects/object.ts';
import { memoryLog } from '../../../../support/memory-log.ts';
import { theirObject } from '../objects.ts';
import { facts, NEW, ownedBy, updatable } from './facts.ts';
import { configOf, fileMachine, KUBELETS, RUNTIMES, rulesOf } from './files/bed.ts';

const UPDATING = { 'in-place-updates.internal.cluster.x-k8s.io/update-in-progress': '' };
const REQUEST = requestFor('v1.34.2');

function requestFor(version: string): { readonly desired: object } {
  return { desired: { machine: { metadata: { namespace: 'fleet', name: 'md-1' }, spec: { version } } } };
}

/** With an entry that the extension has pinned. */
function withOwnPin({ metadata, ...machine }: Machine, name: string): Machine {
  const others = (metadata.managedFields ?? []).filter(
    ({ fieldsV1 }) => !JSON.stringify(fieldsV1).includes(name),
  );
  const managedFields = [...others, ownedBy(MANAGER_CLUSTERAPI_UPDATE, name)];
  return { ...machine, metadata: { ...metadata, managedFields } };
}

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

  it('CAP-18 takes files from the API server, and keeps the pins that it has', async () => {
    const bootstrap = {
      configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name: 'md-1' },
    };
    const kubelet = KUBELETS[0] as (typeof KUBELETS)[number];
    const machine = withOwnPin(fileMachine(1, { config: configOf('a = 1') }), kubelet.spec.component);
    const parts = { machine, version: 'v1.34.1', spec: { bootstrap }, rules: rulesOf() };
    // The request has other files, which are not used.
    const desired = { ...requestFor('v1.34.1').desired, bootstrapConfig: { spec: configOf('a = 9') } };
    const { extension, applied } = open({
      ...parts,
      config: { spec: configOf('a = 2'), annotations: UPDATING },
    });
    expect(await extension.answer('UpdateMachine', { desired })).toMatchObject({ retryAfterSeconds: 10 });
    expect(applied).toMatchObject([
      {
        object: { spec: { components: [{ name: 'kubelet' }, { componentRef: RUNTIMES[1].metadata.name }] } },
      },
    ]);
    const forged = open({ ...parts, config: { spec: configOf('a = 2'), annotations: {} } });
    expect(await forged.extension.answer('UpdateMachine', { desired })).toMatchObject({
      status: 'Failure',
      message: 'the KubeadmConfig of Machine fleet/md-1 of Cluster API is not being updated',
    });
    expect(forged.applied).toEqual([]);
    for (const code of ['Forbidden', 'NotFound'] as const) {
      const unread = open({ ...parts, config: code });
      expect(await unread.extension.answer('UpdateMachine', { desired })).toMatchObject({
        retryAfterSeconds: 10,
      });
      expect(unread.applied).toEqual([]);
    }
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
  readonly machine?: Machine;
  readonly version?: string;
  readonly spec?: object;
  readonly rules?: EntryRules;
  /** Its KubeadmConfig, or the error with which it is answered. */
  readonly config?:
    | { readonly spec: object; readonly annotations: Readonly<Record<string, string>> }
    | 'Forbidden'
    | 'NotFound';
}

function open({ annotations = UPDATING, applyError, unknown, ...parts }: Parts = {}): {
  readonly extension: UpdateExtension;
  readonly applied: readonly Applied[];
} {
  const applied: Applied[] = [];
  const base = parts.machine ?? updatable(1);
  const machine: Machine = { ...base, metadata: { ...base.metadata, resourceVersion: '7' } };
  const theirs = theirObject(1);
  const spec = { ...(theirs['spec'] as object), version: parts.version ?? 'v1.34.2', ...parts.spec };
  const stored = { ...theirs, metadata: { ...theirs.metadata, annotations }, spec };
  const extension = createUpdateExtension({
    theirs: {
      get: async <T>({ group }: Resource) =>
        (group === 'bootstrap.cluster.x-k8s.io' ? configIn(parts) : stored) as T,
    },
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
      return facts([machine], parts.rules ? { rules: parts.rules } : {});
    },
    log: memoryLog(),
  });
  return { extension, applied };
}

function configIn({ config }: Pick<Parts, 'config'>): KubeObject {
  if (config === undefined) throw new Error('there is a KubeadmConfig only in tests of files');
  if (typeof config === 'string') throw kubeError(config);
  const metadata = { namespace: 'fleet', name: 'md-1', annotations: config.annotations };
  return {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfig',
    metadata,
    spec: config.spec,
  };
}

function kubeError(code: 'Conflict' | 'Forbidden' | 'NotFound'): Error {
  return new KubeError(code, 'conflict');
}
