import { describe, expect, it } from 'vitest';
import type { Machine, MaintenanceEvent } from '../../../src/api/generated/types.ts';
import { matchMachine } from '../../../src/controllers/hostdoctor/match.ts';
import { ago, machine } from '../../support/builders.ts';
import { type EventParts, maintenanceEvent } from '../../support/maintenance.ts';

const known = { status: { machine: { uid: 'uid-old', providerID: 'local://1' } } };

function withInstance(providerID: string, uid = 'uid-old'): Machine {
  return machine('m-1', { metadata: { uid }, status: { infra: { providerID } } });
}

function match(parts: EventParts, found: Machine | undefined): ReturnType<typeof matchMachine> {
  const event: MaintenanceEvent = maintenanceEvent(parts);
  return matchMachine(event, found);
}

describe('the machine of an event', () => {
  it('is recorded with its UID, and with its provider id once it has one', () => {
    const plain = machine('m-1', { metadata: { uid: 'uid-old' } });
    expect(match({}, plain)).toEqual({ machine: { uid: 'uid-old' } });
    expect(match({ status: { machine: { uid: 'uid-old' } } }, withInstance('local://1'))).toEqual({
      machine: { uid: 'uid-old', providerID: 'local://1' },
    });
  });

  it.each<readonly [string, EventParts, Machine | undefined, string]>([
    ['is missing', {}, undefined, 'MachineNotFound'],
    ['was deleted', known, undefined, 'MachineNotFound'],
    ['has another provider', { provider: 'ssh' }, machine('m-1'), 'OtherProvider'],
    ['was recreated as another instance', known, withInstance('local://2', 'uid-new'), 'MachineReplaced'],
    ['is another instance under the same UID', known, withInstance('local://2'), 'MachineReplaced'],
    [
      'was recreated, and has no instance yet',
      known,
      machine('m-1', { metadata: { uid: 'uid-new' } }),
      'MachineReplaced',
    ],
    [
      'was created after the event',
      {},
      machine('m-1', { metadata: { creationTimestamp: ago(59) } }),
      'MachineReplaced',
    ],
  ])('does not match when it %s', (_, parts, found, reason) => {
    const { mismatch, machine: recorded } = match(parts, found);
    expect(mismatch?.reason).toBe(reason);
    expect(mismatch?.message).not.toBe('');
    expect(recorded).toEqual(parts.status?.machine);
  });

  it.each<readonly [string, EventParts, Machine]>([
    ['the same instance has a new Machine', known, withInstance('local://1', 'uid-new')],
    ['Host Doctor diagnosed it, whatever its provider is', { provider: 'hostdoctor' }, machine('m-1')],
    ['it was created before the event', {}, machine('m-1', { metadata: { creationTimestamp: ago(60) } })],
  ])('matches when %s', (_, parts, found) => {
    expect(match(parts, found).mismatch).toBeUndefined();
  });
});
