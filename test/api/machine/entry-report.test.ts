import { describe, expect, it } from 'vitest';
import type { MachineComponentEntry } from '../../../src/api/generated/types.ts';
import {
  entriesDigest,
  hasOnlyLostGrants,
  isObserved,
  reportOf,
} from '../../../src/api/machine/entry-report.ts';
import { DESIRED, machine, PREVIOUS } from '../../support/builders.ts';

const ENTRY: MachineComponentEntry = { ...DESIRED, state: 'Present', parameters: {} };
const GRANT = { id: 'g-1-1', fence: 1, entryDigest: DESIRED.digest, notAfter: '2030-01-01T00:00:00Z' };
const ASSIGNMENT = { set: 'general', revision: 'r-2' };

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

  it.each<[what: string, parts: { readonly spec?: object; readonly digest?: string }, expected: boolean]>([
    ['the same entries without a grant', {}, true],
    ['the same entries with a grant', { spec: { components: [{ ...ENTRY, grant: GRANT }] } }, false],
    ['another version', { spec: { components: [{ ...ENTRY, componentRef: 'other-1' }] } }, false],
    ['another assignment', { spec: { components: [{ ...ENTRY, assignment: ASSIGNMENT }] } }, false],
    ['a new retry token', { spec: { retryToken: 'again' } }, false],
    ['an agent that reports no digest', { digest: '' }, false],
  ])('after a report of an older generation, %s: observed %s', (...[, parts, expected]) => {
    const { spec = {}, digest = entriesDigest({ components: [{ ...ENTRY, grant: GRANT }] }) } = parts;
    const agent = { observedGeneration: 2, ...(digest === '' ? {} : { entriesDigest: digest }) };
    const found = machine('m-1', {
      metadata: { generation: 3 },
      spec: { components: [ENTRY], ...spec },
      status: { agent },
    });
    expect([isObserved(found), hasOnlyLostGrants(found)]).toEqual([expected, expected]);
  });
});
