import { describe, expect, it } from 'vitest';
import {
  coverAnswer,
  discoveryAnswer,
  failureAnswer,
  progressAnswer,
} from '../../../../../src/controllers/following/clusterapi/extension/answers.ts';
import {
  HOOKS_API_VERSION,
  hookAt,
  questionIn,
  UPDATE_HOOKS,
  updateIn,
} from '../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import { valueAt } from '../../../../../src/kube/objects/json.ts';

const METADATA = { namespace: 'fleet', name: 'md-1' };

function sideWith(bootstrapConfig: object): object {
  return { machine: { metadata: METADATA, spec: {} }, bootstrapConfig };
}

describe('the protocol of Runtime SDK', () => {
  it('finds each hook at the path that Cluster API builds from the name of its handler', () => {
    const { handlers } = discoveryAnswer() as { handlers?: readonly { name: string; requestHook: object }[] };
    expect(handlers?.map(({ requestHook }) => requestHook)).toEqual(
      UPDATE_HOOKS.map((hook) => ({ apiVersion: HOOKS_API_VERSION, hook })),
    );
    for (const [index, { name }] of (handlers ?? []).entries()) {
      const hook = UPDATE_HOOKS[index] ?? '';
      expect(hookAt(`/${HOOKS_API_VERSION}/${hook.toLowerCase()}/${name}`)).toBe(hook);
    }
    expect(hookAt(`/${HOOKS_API_VERSION}/discovery`)).toBe('Discovery');
    expect(hookAt(`/${HOOKS_API_VERSION}/canupdatemachine/other`)).toBeUndefined();
    expect(hookAt('/')).toBeUndefined();
  });

  it('CAP-05 answers a patch of the version alone, and none for what is not covered', () => {
    const patch = valueAt(
      coverAnswer('CanUpdateMachineSet', { version: 'v1.2.3', files: [] }),
      'machineSetPatch',
      'patch',
    );
    expect(JSON.parse(atob(String(patch)))).toEqual({ spec: { template: { spec: { version: 'v1.2.3' } } } });
    const own = valueAt(
      coverAnswer('CanUpdateMachine', { version: 'v1.2.3', files: [] }),
      'machinePatch',
      'patch',
    );
    expect(JSON.parse(atob(String(own)))).toEqual({ spec: { version: 'v1.2.3' } });
    expect(coverAnswer('CanUpdateMachine', undefined)).toEqual({
      apiVersion: HOOKS_API_VERSION,
      kind: 'CanUpdateMachineResponse',
      status: 'Success',
    });
  });

  it('CAP-17 answers an operation for each entry of a list, and no field of the Machine that does not change', () => {
    const files = [{ op: 'replace' as const, path: '/spec/files/0', value: { path: '/a', content: 'é' } }];
    const answer = coverAnswer('CanUpdateMachine', { files });
    expect(answer).not.toHaveProperty('machinePatch');
    expect(answer['bootstrapConfigPatch']).toMatchObject({ patchType: 'JSONPatch' });
    const bytes = String(valueAt(answer, 'bootstrapConfigPatch', 'patch'));
    expect(JSON.parse(Buffer.from(bytes, 'base64').toString())).toEqual(files);
    expect(coverAnswer('CanUpdateMachineSet', { files })).toHaveProperty('bootstrapConfigTemplatePatch');
  });

  it('CAP-17 reads the files of a KubeadmConfig apart from all that no component covers', () => {
    const spec = { files: [{ path: '/a' }], verbosity: 2 };
    const kubeadm = { apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2', kind: 'KubeadmConfig', spec };
    const other = { apiVersion: 'bootstrap.example.com/v1', kind: 'Config', spec };
    const question = questionIn('CanUpdateMachine', { current: sideWith(kubeadm), desired: sideWith(other) });
    expect(question?.current).toMatchObject({
      bootstrap: spec,
      others: { 'spec of the KubeadmConfig': { verbosity: 2 } },
    });
    expect(question?.desired).toMatchObject({ others: { 'spec of the Config': spec } });
    expect(question?.desired.bootstrap).toBeUndefined();
  });

  it('answers an update with the time of the next call, which the contract requires also of a failure', () => {
    expect(progressAnswer('waits', 10)).toMatchObject({
      status: 'Success',
      retryAfterSeconds: 10,
      message: 'waits',
    });
    expect(failureAnswer('UpdateMachine', 'no')).toMatchObject({ status: 'Failure', retryAfterSeconds: 0 });
  });

  it('reads the selector of a MachineSet as one that never selects everything', () => {
    const machineSet = { metadata: METADATA, spec: { replicas: 3, selector: { all: true } } };
    const question = questionIn('CanUpdateMachineSet', { current: { machineSet }, desired: { machineSet } });
    expect(question?.current).toMatchObject({ replicas: 3, selector: { all: false }, version: undefined });
  });

  it.each([
    undefined,
    null,
    7,
    'text',
    [],
    {},
    { desired: { machine: {} } },
    { desired: { machine: { metadata: {} } } },
  ])('refuses a body that has another form: %j', (body) => {
    expect(updateIn(body)).toBeUndefined();
    expect(questionIn('CanUpdateMachine', body)).toBeUndefined();
    expect(questionIn('CanUpdateMachineSet', body)).toBeUndefined();
  });

  it('CAP-06 fails back only by a setting of the ExtensionConfig', () => {
    const desired = { machine: { metadata: METADATA, spec: { version: 'v1' } } };
    expect(updateIn({ desired })?.onFailure).toBe('Wait');
    expect(updateIn({ desired, settings: { onFailure: 'Fail' } })?.onFailure).toBe('Fail');
    expect(updateIn({ desired, settings: { onFailure: 'no' } })?.onFailure).toBe('Wait');
  });
});
