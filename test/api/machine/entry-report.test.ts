import { describe, expect, it } from 'vitest';
import type { MachineComponentEntry } from '../../../src/api/generated/types.ts';
import { isObserved, reportOf } from '../../../src/api/machine/entry-report.ts';
import { DESIRED, machine, PREVIOUS } from '../../support/builders.ts';

const ENTRY: MachineComponentEntry = { ...DESIRED, state: 'Present', parameters: {} };

describe('what an agent reports of an entry', () => {
  it.each<[string, { readonly name?: string; readonly desiredRef?: string }, boolean]>([
    ['of its version', {}, true],
    ['of the version before', { desiredRef: PREVIOUS.componentRef }, false],
    ['of another component', { name: 'other' }, false],
  ])('a report %s', (_, fields, isFound) => {
    const report = { name: DESIRED.name, desiredRef: DESIRED.componentRef, ...fields };
    const found = reportOf(machine('m-1', { status: { components: [report] } }), ENTRY);
    expect(found).toEqual(isFound ? report : undefined);
  });

  it.each([
    [2, false],
    [3, true],
    [4, true],
  ])('generation 3, observed %d: %s', (observedGeneration, expected) => {
    const found = machine('m-1', { status: { agent: { observedGeneration } } });
    expect(isObserved({ ...found, metadata: { ...found.metadata, generation: 3 } })).toBe(expected);
  });

  it('is not observed before the first report', () => {
    const found = machine('m-1', { status: {} });
    expect(isObserved({ ...found, metadata: { ...found.metadata, generation: 1 } })).toBe(false);
  });
});
