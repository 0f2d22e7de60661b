import { describe, expect, it } from 'vitest';
import type { Machine, MachineComponentEntry } from '../../../../src/api/generated/types.ts';
import { mergeEntries, mergePinGrants } from '../../../../src/controllers/componentset/members/entries.ts';
import { component, machine } from '../../../support/builders.ts';
import { ownEntries } from '../managed-fields.ts';

function entry(name: string, version: string, set?: string): MachineComponentEntry {
  const assignment = set === undefined ? {} : { assignment: { set, revision: 'r-1' } };
  return { ...component(name, version), state: 'Present', parameters: {}, ...assignment };
}

/** All entries but those of `pins` are ours. */
function machineWith(components: readonly MachineComponentEntry[], pins: readonly string[] = []): Machine {
  const ours = components.map(({ name }) => name).filter((name) => !pins.includes(name));
  return machine('m-1', { metadata: { managedFields: [ownEntries(...ours)] }, spec: { components } });
}

const KUBELET = entry('kubelet', '1', 'a');
const RUNC = entry('runc', '1', 'b');

const GRANT = { id: 'g-1', fence: 1, entryDigest: 'sha256:1', notAfter: '2030-01-01T00:00:00Z' };

describe('mergePinGrants', () => {
  it.each<[what: string, grants: ReadonlyMap<string, typeof GRANT>, merged: readonly object[]]>([
    ['a grant', new Map([['kubelet', GRANT]]), [{ name: 'kubelet', grant: GRANT }, RUNC]],
    ['none, where it is settled', new Map(), [RUNC]],
  ])('ROL-06 applies the whole list, with %s in a pin', (_what, grants, merged) => {
    const old = { ...GRANT, id: 'g-0' };
    const pinned = machineWith([{ ...KUBELET, grant: old }, RUNC], ['kubelet']);
    expect(mergePinGrants(pinned, grants)).toEqual(merged);
  });

  it('ROL-06 leaves pins in the order of their owner, so that the same apply of that one changes nothing', () => {
    const pins = [RUNC, entry('greeter', '1'), KUBELET].map((each) => ({ ...each, grant: GRANT }));
    const pinned = machineWith(
      [...pins, entry('cni', '1', 'b'), entry('npd', '1', 'b')],
      ['runc', 'greeter', 'kubelet'],
    );
    const grants = new Map(['greeter', 'kubelet', 'runc'].map((name) => [name, GRANT]));
    const expected = ['cni', 'runc', 'greeter', 'npd', 'kubelet'];
    expect(mergePinGrants(pinned, grants).map(({ name }) => name)).toEqual(expected);
    expect(mergeEntries(pinned, [entry('cni', '2', 'b')]).map(({ name }) => name)).toEqual(expected);
  });
});

describe('mergeEntries', () => {
  it.each<
    [
      what: string,
      machine: Machine,
      changed: readonly MachineComponentEntry[],
      merged: readonly MachineComponentEntry[],
    ]
  >([
    [
      'replaces the entry of the set and keeps that of another one',
      machineWith([RUNC, KUBELET]),
      [entry('kubelet', '2', 'a')],
      [entry('kubelet', '2', 'a'), RUNC],
    ],
    ['adds an entry', machineWith([KUBELET]), [RUNC], [KUBELET, RUNC]],
    ['applies the same list when nothing changed', machineWith([RUNC, KUBELET]), [], [KUBELET, RUNC]],
    [
      'never takes over a pin',
      machineWith([KUBELET, RUNC], ['kubelet']),
      [entry('kubelet', '2', 'a'), entry('runc', '2', 'b')],
      [entry('runc', '2', 'b')],
    ],
  ])('ROL-06 applies the whole list and %s', (_what, of, changed, merged) => {
    expect(mergeEntries(of, changed)).toEqual(merged);
  });

  it('ROL-06 keeps the grant of a pin, and applies nothing else of it', () => {
    const pinned = machineWith([{ ...KUBELET, grant: GRANT }, RUNC], ['kubelet']);
    expect(mergeEntries(pinned, [entry('runc', '2', 'b')])).toEqual([
      { name: 'kubelet', grant: GRANT },
      entry('runc', '2', 'b'),
    ]);
  });

  it('ROL-41 keeps the entries of a set that no longer selects the machine', () => {
    expect(mergeEntries(machineWith([entry('kubelet', '1', 'deleted')]), [RUNC])).toEqual([
      entry('kubelet', '1', 'deleted'),
      RUNC,
    ]);
  });

  it('ROL-41 gives an entry of a set that was deleted to the set that takes it', () => {
    const left = machineWith([entry('kubelet', '1', 'deleted'), entry('cni', '1', 'deleted')]);
    expect(mergeEntries(left, [entry('kubelet', '2', 'a')])).toEqual([
      entry('cni', '1', 'deleted'),
      entry('kubelet', '2', 'a'),
    ]);
  });
});
