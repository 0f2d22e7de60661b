import { describe, expect, it } from 'vitest';
import {
  type CoveredFields,
  coverAnswer,
  discoveryAnswer,
  failureAnswer,
  progressAnswer,
} from '../../../../../src/controllers/following/clusterapi/extension/answers.ts';
import {
  HOOKS_API_VERSION,
  type HookName,
  hookAt,
} from '../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import { isRecord, listAt, textAt } from '../../../../../src/kube/objects/json.ts';

const FILE = {
  op: 'add',
  path: '/spec/files/0',
  value: { path: '/etc/motd', content: 'größer 🚀' },
} as const;

/** Returns the fields of an answer beside its head, and each patch as Cluster API decodes it. */
function fieldsOf(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { apiVersion: _apiVersion, kind: _kind, status: _status, ...fields } = answer;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, decoded(value)]));
}

function decoded(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const patch = JSON.parse(Buffer.from(textAt(value, 'patch') ?? '', 'base64').toString('utf8')) as unknown;
  return { type: value['patchType'], patch };
}

describe('answers of the update extension', () => {
  it.each<
    [
      name: string,
      hook: 'CanUpdateMachine' | 'CanUpdateMachineSet',
      covered: CoveredFields | undefined,
      fields: object,
    ]
  >([
    ['without a patch when nothing is covered', 'CanUpdateMachine', undefined, {}],
    ['without a patch when nothing is named', 'CanUpdateMachineSet', { files: [] }, {}],
    [
      'with the version of a Machine',
      'CanUpdateMachine',
      { version: 'v1.36.2', files: [] },
      { machinePatch: { type: 'JSONMergePatch', patch: { spec: { version: 'v1.36.2' } } } },
    ],
    [
      'with the version in the template of a MachineSet',
      'CanUpdateMachineSet',
      { version: 'v1.36.2', files: [] },
      {
        machineSetPatch: {
          type: 'JSONMergePatch',
          patch: { spec: { template: { spec: { version: 'v1.36.2' } } } },
        },
      },
    ],
    [
      'with the files of a KubeadmConfig, also those that are not ASCII',
      'CanUpdateMachine',
      { files: [FILE] },
      { bootstrapConfigPatch: { type: 'JSONPatch', patch: [FILE] } },
    ],
    [
      'with the files of a template beside the version',
      'CanUpdateMachineSet',
      { version: 'v1.36.2', files: [FILE] },
      {
        machineSetPatch: {
          type: 'JSONMergePatch',
          patch: { spec: { template: { spec: { version: 'v1.36.2' } } } },
        },
        bootstrapConfigTemplatePatch: { type: 'JSONPatch', patch: [FILE] },
      },
    ],
  ])('CAP-05 are a success of this form: %s', (_, hook, covered, fields) => {
    const answer = coverAnswer(hook, covered);
    expect(answer).toMatchObject({
      apiVersion: HOOKS_API_VERSION,
      kind: `${hook}Response`,
      status: 'Success',
    });
    expect(fieldsOf(answer)).toEqual(fields);
  });

  it.each<[hook: HookName, fields: object]>([
    ['Discovery', {}],
    ['CanUpdateMachine', {}],
    ['CanUpdateMachineSet', {}],
    ['UpdateMachine', { retryAfterSeconds: 0 }],
  ])('CAP-05 have a failure of %s with its message, and only the fields of its kind', (hook, fields) => {
    const answer = failureAnswer(hook, 'Machine: initial list not complete');
    expect(answer).toMatchObject({ kind: `${hook}Response`, status: 'Failure' });
    expect(fieldsOf(answer)).toEqual({ message: 'Machine: initial list not complete', ...fields });
  });

  it.each([
    ['is complete', 0],
    ['is asked about again', 10],
  ])('CAP-06 show by the seconds that an update %s', (message, retryAfterSeconds) => {
    const answer = progressAnswer(message, retryAfterSeconds);
    expect(answer).toMatchObject({ kind: 'UpdateMachineResponse', status: 'Success' });
    expect(fieldsOf(answer)).toEqual({ message, retryAfterSeconds });
  });

  it('CAP-05 name each handler that is served, whose ignored error would replace machines', () => {
    const answer = discoveryAnswer();
    expect(answer).toMatchObject({ kind: 'DiscoveryResponse', status: 'Success' });
    const handlers = listAt(answer, 'handlers');
    expect(handlers).toHaveLength(3);
    for (const handler of handlers) {
      const [name, hook] = [textAt(handler, 'name'), textAt(handler, 'requestHook', 'hook') ?? ''];
      expect(hookAt(`/${HOOKS_API_VERSION}/${hook.toLowerCase()}/${name}`)).toBe(hook);
      expect(handler).toMatchObject({ failurePolicy: 'Fail', timeoutSeconds: 15 });
    }
  });
});
