import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { MANAGER_AGENT } from '../../../../src/api/names.ts';
import { currentVersion } from '../../../../src/controllers/componentset/execute/current-version.ts';
import { component, condition, type MachineParts, machine } from '../../../support/builders.ts';
import { ownEntries } from '../managed-fields.ts';

const APP = app('1');
const OWNED = ownEntries('app');

function at(version: string, { metadata = {}, spec = {}, ...parts }: MachineParts = {}): Machine {
  return machine('m-1', {
    ...parts,
    metadata: { uid: 'u-1', resourceVersion: version, managedFields: [OWNED], ...metadata },
    spec: { components: [APP], ...spec },
  });
}

function app(version: string): Machine['spec']['components'][number] {
  return { ...component('app', version), state: 'Present', parameters: {} };
}

const byStatus = { manager: MANAGER_AGENT, operation: 'Apply', subresource: 'status', fieldsV1: {} } as const;
const byPerson = { ...OWNED, manager: 'kubectl' };

describe('currentVersion', () => {
  it.for<readonly [string, Machine | undefined, string]>([
    ['nothing changed', at('2'), '2'],
    [
      'another controller wrote conditions',
      at('2', { status: { conditions: [condition('Ready', 'True')] } }),
      '2',
    ],
    [
      'somebody wrote the status for the first time',
      at('2', { metadata: { managedFields: [OWNED, byStatus] } }),
      '2',
    ],
    ['it is not known any more', undefined, '1'],
    ['it was created again', at('2', { metadata: { uid: 'u-2' } }), '1'],
    ['an entry changed', at('2', { spec: { components: [app('2')] } }), '1'],
    [
      'a person took over an entry as it is',
      at('2', { metadata: { managedFields: [OWNED, byPerson] } }),
      '1',
    ],
    ['a person holds it', at('2', { spec: { hold: { reason: 'disk', scope: 'All' } } }), '1'],
    ['its agent reported', at('2', { status: { components: [] } }), '1'],
    ['it is being deleted', at('2', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }), '1'],
  ])('when %s', ([, newest, version]) => {
    expect(currentVersion(at('1'), newest)).toBe(version);
  });
});
