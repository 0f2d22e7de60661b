import { describe, expect, it } from 'vitest';
import {
  coverAnswer,
  discoveryAnswer,
  failureAnswer,
  HOOKS_API_VERSION,
  hookAt,
  progressAnswer,
  questionIn,
  UPDATE_HOOKS,
  updateIn,
} from '../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import { valueAt } from '../../../../../src/kube/objects/json.ts';

const METADATA = { namespace: 'fleet', name: 'md-1' };

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
    const patch = valueAt(coverAnswer('CanUpdateMachineSet', 'v1.2.3'), 'machineSetPatch', 'patch');
    expect(JSON.parse(atob(String(patch)))).toEqual({ spec: { template: { spec: { version: 'v1.2.3' } } } });
    const own = valueAt(coverAnswer('CanUpdateMachine', 'v1.2.3'), 'machinePatch', 'patch');
    expect(JSON.parse(atob(String(own)))).toEqual({ spec: { version: 'v1.2.3' } });
    expect(coverAnswer('CanUpdateMachine', undefined)).toEqual({
      apiVersion: HOOKS_API_VERSION,
      kind: 'CanUpdateMachineResponse',
      status: 'Success',
    });
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
