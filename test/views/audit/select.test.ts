import { describe, expect, it } from 'vitest';
import type { AuditAct, AuditCommit, AuditLine, AuditObject } from '../../../src/api/audit/lines.ts';
import { type AuditQuestion, selectEntries } from '../../../src/views/audit/select.ts';

function at(minute: number): string {
  return new Date(Date.UTC(2030, 0, 1, 12, minute)).toISOString();
}

function commit(id: string, fields: Partial<AuditCommit> = {}): AuditCommit {
  return { type: 'commit', at: at(0), commit: id, pipeline: 'fleet', cluster: 'prod', ...fields };
}

function object(minute: number, name: string, fields: Partial<AuditObject> = {}): AuditObject {
  return {
    type: 'object',
    at: at(minute),
    object: name,
    unit: 'web',
    commit: 'c1111111',
    act: 'Updated',
    outcome: 'Succeeded',
    because: 'changed in git',
    ...fields,
  };
}

function act(minute: number, machine: string, fields: Partial<AuditAct> = {}): AuditAct {
  return {
    type: 'act',
    at: at(minute),
    machine,
    action: 'UpdateComponents',
    risk: 'Disruptive',
    grant: `g-${minute}`,
    grantedAt: at(minute),
    holder: 'MachineComponentSet/base',
    outcome: 'Succeeded',
    ...fields,
  };
}

const SET = 'kubenode.dev/MachineComponentSet base';
const LINES: readonly AuditLine[] = [
  commit('c1111111', { author: 'Ann' }),
  commit('c2222222', { author: 'Ben', signer: 'ben@example.com' }),
  object(1, SET, { act: 'Created' }),
  act(2, 'n1'),
  act(3, 'n2'),
  object(4, SET, { commit: 'c2222222' }),
  object(5, SET, { commit: 'c1111111', act: 'Corrected' }),
  act(6, 'n1'),
  act(7, 'n1', { holder: 'RemedyOperationJob/n1-a', origin: 'NodeRemedier/disk' }),
  object(8, 'kubenode.dev/Machine n1'),
  object(9, 'apps/Deployment shop/web', { outcome: 'Failed' }),
  {
    type: 'answer',
    at: at(10),
    machine: 'n1',
    action: 'Reboot',
    holder: 'RemedyOperationJob/n1-b',
    decision: 'Approved',
    by: 'eve',
  },
  { type: 'closure', at: at(11), breaker: 'p/b/k', by: 'eve', reason: 'fixed' },
];

/** Each entry by its minute, with the author of its commit. */
function shown(question: AuditQuestion, lines = LINES): string {
  return selectEntries(lines, question)
    .map(
      ({ line, origin }) => `${new Date(line.at).getUTCMinutes()}${origin ? ` ${origin.author ?? '-'}` : ''}`,
    )
    .join(', ');
}

describe('selectEntries', () => {
  it.each<[name: string, question: AuditQuestion, expected: string]>([
    ['everything', {}, '1 Ann, 2 Ann, 3 Ann, 4 Ben, 5 Ann, 6 Ben, 7, 8 Ann, 9 Ann, 10, 11'],
    ['one node, with the commit that its set had then', { node: 'n1' }, '2 Ann, 6 Ben, 7, 8 Ann, 10'],
    ['a node whose name begins alike', { node: 'n' }, ''],
    [
      'an object without its group',
      { object: 'MachineComponentSet/base' },
      '1 Ann, 2 Ann, 3 Ann, 4 Ben, 5 Ann, 6 Ben',
    ],
    ['an object with its group', { object: 'kubenode.dev/MachineComponentSet/base' }, '1 Ann, 4 Ben, 5 Ann'],
    ['an object in a namespace', { object: 'Deployment/shop/web' }, '9 Ann'],
    ['a rule, with what was done for it', { object: 'NodeRemedier/disk' }, '7'],
    ['a job, with its answer', { object: 'RemedyOperationJob/n1-b' }, '10'],
    ['a commit, with what was done for it', { commit: 'c2222222' }, '4 Ben, 6 Ben'],
    ['the start of a commit', { commit: 'c22' }, '4 Ben, 6 Ben'],
    ['since a moment', { since: new Date(at(9)) }, '9 Ann, 10, 11'],
    ['several of these', { node: 'n1', commit: 'c1111111' }, '2 Ann, 8 Ann'],
  ])('S30 selects from the audit record %s', (_, question, expected) => {
    expect(shown(question)).toBe(expected);
  });

  it('S30 knows no commit for an act before the first recorded write of its set', () => {
    expect(shown({ node: 'n2' }, [act(0, 'n2'), ...LINES])).toBe('0, 3 Ann');
  });

  it('S30 does not take a write that failed for what the set was', () => {
    const failed = object(1, SET, { outcome: 'Failed', commit: 'c2222222' });
    expect(shown({ node: 'n1' }, [...LINES.slice(0, 3), failed, act(2, 'n1')])).toBe('2 Ann');
  });

  it('S30 joins what several lines know about a commit', () => {
    const lines = [
      commit('c1', { author: 'Ann' }),
      commit('c1', { signer: 'ann' }),
      object(1, SET, { commit: 'c1' }),
    ];
    expect(selectEntries(lines, {})[0]?.origin).toMatchObject({ author: 'Ann', signer: 'ann' });
  });

  it('S24 names a rollback only with the writes that it caused: not with those of the same commit before and after', () => {
    const rollback = { by: 'anna', reason: 'ticket 7', since: at(2) };
    const [before, during, after] = [1, 3, 5].map((minute) => object(minute, SET, { commit: 'c1' }));
    if (!before || !during || !after) throw new Error('three writes are needed');
    const lines = [
      commit('c1', { author: 'Ann' }),
      before,
      commit('c1', { at: at(3), rollback }),
      during,
      act(4, 'n1'),
      commit('c1', { at: at(5) }),
      after,
      act(6, 'n1'),
    ];
    const found = selectEntries(lines, {}).map(({ line, origin }) => [
      new Date(line.at).getUTCMinutes(),
      origin?.author,
      origin?.rollback?.by,
    ]);
    expect(found).toEqual([
      [1, 'Ann', undefined],
      [3, 'Ann', 'anna'],
      [4, 'Ann', 'anna'],
      [5, 'Ann', undefined],
      [6, 'Ann', undefined],
    ]);
  });
});
