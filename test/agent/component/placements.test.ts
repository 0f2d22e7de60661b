import { describe, expect, it } from 'vitest';
import type { ComponentObservation, ObservedFile } from '../../../src/agent/component/observe.ts';
import { fileDifference, swapActions } from '../../../src/agent/component/placements.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import { installed, V1, V2 } from '../../support/agent/component-input.ts';
import { agentFile, agentUnit, target } from '../../support/agent/targets.ts';

const FILE = agentFile('/a', 'x', { mode: '0640', owner: 'joe:joe' });
const FOUND: ObservedFile = { type: 'File', content: 'x', mode: '0640', owner: 'joe:joe' };

function because(found: ObservedFile | undefined): string | undefined {
  return fileDifference(FILE, { ...installed(V1), files: new Map(found ? [['/a', found]] : []) });
}

function explained(
  from: Target | undefined,
  to: Target | undefined,
  observed: ComponentObservation,
): readonly string[] {
  return swapActions(from, to, observed).map((action) =>
    action.type === 'Operate' ? `${action.operation.op}: ${action.because}` : '',
  );
}

describe('fileDifference', () => {
  it.each<[string, ObservedFile | undefined, string | undefined]>([
    ['no difference', FOUND, undefined],
    ['a missing file', undefined, '/a is missing'],
    ['a link in its place', { ...FOUND, type: 'Link', target: '/b' }, '/a is a link, not a file'],
    ['other content', { ...FOUND, content: 'y' }, '/a has other content: line 1'],
    ['another mode', { ...FOUND, mode: '0644' }, '/a has mode 0644, not 0640'],
    ['another owner', { ...FOUND, owner: 'root:root' }, '/a belongs to root:root, not to joe:joe'],
  ])('finds %s', (_name, found, expected) => {
    expect(because(found)).toBe(expected);
  });

  it.each<[string, Partial<ObservedFile>, boolean]>([
    ['1000:1000', { ownerIds: '1000:1000' }, true],
    ['joe:1000', { ownerIds: '1000:1000' }, true],
    ['1000:1001', { ownerIds: '1000:1000' }, false],
    ['1000:1000', {}, false],
    ['joe', { ownerIds: '1000:1000' }, false],
  ])('AGT-30 takes an owner by name or by number: %s', (owner, found, isSame) => {
    const files = new Map([['/a', { ...FOUND, ...found }]]);
    const difference = fileDifference({ ...FILE, owner }, { ...installed(V1), files });
    expect(difference === undefined).toBe(isSame);
  });
});

describe('swapActions', () => {
  it('does nothing on its own result', () => {
    expect(swapActions(V1, V2, installed(V2))).toEqual([]);
  });

  it('enables a disabled unit and unmasks a masked one', () => {
    const status = { defined: true, enabled: false, masked: false, active: 'Active', restarts: 0 } as const;
    expect(explained(V1, V1, installed(V1, { units: new Map([['proxy', status]]) }))).toEqual([
      'SetEnabled: unit proxy is not enabled',
    ]);
    const masked = { ...status, enabled: true, masked: true };
    expect(explained(V1, V1, installed(V1, { units: new Map([['proxy', masked]]) }))).toEqual([
      'SetEnabled: unit proxy is not enabled',
    ]);
  });

  it('removes what only the old version has', () => {
    const before = target('1.0', { files: [agentFile('/old', '')], units: [agentUnit('old')] });
    const after = target('1.0', { files: [], units: [] });
    expect(explained(before, undefined, installed(before))).toContain(
      'RemoveUnit: unit old is removed with its component',
    );
    expect(explained(before, after, installed(before))).toEqual([
      'Restore: /old is not part of version 1.0',
      'RemoveUnit: unit old is not part of version 1.0',
    ]);
  });

  it('takes only its drop-ins from a unit that the host had before', () => {
    const before = target('1.0', {
      files: [],
      units: [agentUnit('sshd', { existing: true, dropIns: [{ name: 'x', content: '' }] })],
    });
    const after = target('1.0', { files: [], units: [] });
    const untouched = {
      defined: false,
      enabled: true,
      masked: false,
      active: 'Active',
      restarts: 0,
    } as const;
    expect(explained(before, after, installed(before))).toEqual([
      'RemoveUnit: unit sshd is not part of version 1.0',
    ]);
    expect(explained(before, after, installed(before, { units: new Map([['sshd', untouched]]) }))).toEqual(
      [],
    );
  });

  it('leaves a path alone whose original is not recorded', () => {
    expect(explained(V1, undefined, installed(V1, { backups: new Set(), units: new Map() }))).toEqual([]);
  });
});
