import { describe, expect, it } from 'vitest';
import type { MachineComponentEntry } from '../../../src/api/generated/types.ts';
import { componentOn, createHost, type SimulatedHost } from '../../../src/sim/rollout/hosts.ts';
import { isHung, startedUpdate } from '../../../src/sim/rollout/truth.ts';
import { component } from '../../support/builders.ts';

function entry(version: string, grant?: string, more: object = {}): MachineComponentEntry {
  const assignment = { set: 'general', revision: `r-${version}`, batch: 1, ...more };
  const permission = { id: grant ?? '', fence: 1, entryDigest: '', notAfter: '' };
  const content = { ...component('app', version), state: 'Present', parameters: {} } as const;
  return { ...content, assignment, ...(grant === undefined ? {} : { grant: permission }) };
}

function hostWith(installed: MachineComponentEntry, more: object = {}): SimulatedHost {
  const host = createHost('m-1', 'uid', 0);
  Object.assign(componentOn(host, 'app'), { installed, ...more });
  return host;
}

describe('startedUpdate', () => {
  const host = hostWith(entry('1'));
  const drifted = hostWith(entry('1'), { hasDrifted: true });
  const token = { retryToken: 'again' };
  it.each<[what: string, Parameters<typeof startedUpdate>, kind: string | undefined]>([
    ['another version', ['m-1', entry('1'), entry('2', 'g-1'), host], 'Update'],
    ['a first version', ['m-1', undefined, entry('2', 'g-1'), host], 'Update'],
    ['what the host has already', ['m-1', entry('2'), entry('1', 'g-1'), host], 'None'],
    ['another retry token', ['m-1', entry('2'), entry('2', 'g-1', token), host], 'Update'],
    ['another grant', ['m-1', entry('2', 'g-1'), entry('2', 'g-2'), host], 'None'],
    ['the grant of a restart', ['m-1', entry('1'), entry('1', 'g-1'), drifted], 'Restart'],
    ['the same grant, renewed', ['m-1', entry('2', 'g-1'), entry('2', 'g-1'), host], undefined],
    ['no grant any more', ['m-1', entry('2', 'g-1'), entry('2'), host], undefined],
  ])('tells what a host begins: %s', (_, args, kind) => {
    expect(startedUpdate(...args)?.kind).toBe(kind);
  });
});

describe('isHung', () => {
  it('is a host at work, or one whose Node is not Ready', () => {
    const work = { id: 'x', activeMs: 0, endsMs: 0 };
    expect(isHung(undefined)).toBe(false);
    expect(isHung(hostWith(entry('1')))).toBe(false);
    expect(isHung(hostWith(entry('1'), { work }))).toBe(true);
    expect(isHung(Object.assign(hostWith(entry('1')), { isReady: false }))).toBe(true);
  });
});
