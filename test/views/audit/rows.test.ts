import { describe, expect, it } from 'vitest';
import type { AuditAct, AuditCommit, AuditObject } from '../../../src/api/audit/lines.ts';
import { auditJson, auditTable, auditWarnings, authorText } from '../../../src/views/audit/rows.ts';
import type { AuditEntry } from '../../../src/views/audit/select.ts';

const AT = '2030-01-01T12:00:00.000Z';
const ORIGIN: AuditCommit = {
  type: 'commit',
  at: AT,
  commit: 'c1',
  pipeline: 'fleet',
  cluster: 'prod',
  author: 'Ann',
  plan: 'sha256:11',
  approvals: [
    {
      stage: 'prod',
      reason: 'reviewed',
    },
  ],
};
const SOURCE: AuditObject = {
  type: 'object',
  at: AT,
  object: 'kubenode.dev/MachineComponentSet base',
  unit: 'web',
  commit: 'c1',
  act: 'Updated',
  outcome: 'Succeeded',
  because: 'changed in git',
  components: ['kubelet-1.36.3'],
};
const ACT: AuditAct = {
  type: 'act',
  at: AT,
  machine: 'n1',
  action: 'UpdateComponents',
  risk: 'Disruptive',
  grant: 'g-7-0',
  grantedAt: AT,
  holder: 'MachineComponentSet/base',
  origin: 'MachineComponentSet/base',
  outcome: 'Failed',
};

function row(entry: AuditEntry): string | undefined {
  return auditTable([entry], 'nothing').rows[0]?.slice(1).join(' | ');
}

describe('auditTable', () => {
  it.each<[string, AuditEntry, string]>([
    [
      'a write',
      { line: SOURCE, origin: ORIGIN },
      'kubenode.dev/MachineComponentSet base | Updated | Succeeded | - | c1 | Ann (unverified) | changed in git; kubelet-1.36.3; approved in git for prod: reviewed',
    ],
    [
      'an approval with its commit, its plan and who signed it',
      {
        line: { ...SOURCE, components: [] },
        origin: {
          ...ORIGIN,
          approvals: [
            {
              stage: 'prod',
              reason: 'reviewed',
              planDigest: `sha256:${'1'.repeat(64)}`,
              commit: 'c2',
              by: 'bob',
            },
          ],
        },
      },
      'kubenode.dev/MachineComponentSet base | Updated | Succeeded | - | c1 | Ann (unverified) | changed in git; approved in git for prod (signed by bob, commit c2, plan sha256:111111111111): reviewed',
    ],
    [
      'an act with the versions that its set declared',
      { line: ACT, origin: ORIGIN, source: SOURCE },
      'Machine n1 | UpdateComponents | Failed | g-7-0 | c1 | Ann (unverified) | for MachineComponentSet/base; kubelet-1.36.3; approved in git for prod: reviewed',
    ],
    [
      'a repair of a rule whose commit is not recorded',
      { line: { ...ACT, holder: 'RemedyOperationJob/j', origin: 'NodeRemedier/disk' } },
      'Machine n1 | UpdateComponents | Failed | g-7-0 | - | - | for RemedyOperationJob/j of NodeRemedier/disk',
    ],
    [
      'an answer',
      {
        line: {
          type: 'answer',
          at: AT,
          machine: 'n1',
          action: 'Reboot',
          holder: 'RemedyOperationJob/j',
          decision: 'Approved',
          by: 'eve',
          reason: 'checked',
        },
      },
      'Machine n1 | Reboot | Approved | - | - | eve | for RemedyOperationJob/j; checked',
    ],
    [
      'a breaker',
      { line: { type: 'closure', at: AT, breaker: 'p/b/k', by: 'eve', reason: 'fixed' } },
      'breaker p/b/k | Close | Succeeded | - | - | eve | fixed',
    ],
  ])('S30 shows in the audit record %s', (_, entry, expected) => {
    expect(row(entry)).toBe(expected);
  });
});

describe('authorText', () => {
  it.each([
    ['the name that a commit states as unverified', { author: 'Ann' }, 'Ann (unverified)'],
    ['the key that signed beside it', { author: 'Ann', signer: 'ben' }, 'Ann (signed by ben)'],
    [
      'a name that pretends to be signed as unverified',
      { author: 'Ann (signed by ann)' },
      'Ann (signed by ann) (unverified)',
    ],
    ['a key without an author', { signer: 'ben' }, 'unknown (signed by ben)'],
    ['nothing about an unknown commit', undefined, '-'],
  ])('S30 shows in the audit record %s', (_, origin, expected) => {
    expect(authorText(origin)).toBe(expected);
  });
});

describe('auditJson', () => {
  it('S30 states for programs whether the author is verified, with commit, plan and approvals', () => {
    expect(auditJson({ line: ACT, origin: ORIGIN, source: SOURCE })).toMatchObject({
      ...ACT,
      commit: 'c1',
      components: ['kubelet-1.36.3'],
      author: 'Ann',
      authorVerified: false,
      plan: 'sha256:11',
      approvals: [{ stage: 'prod', reason: 'reviewed' }],
    });
    expect(auditJson({ line: ACT, origin: { ...ORIGIN, signer: 'ann' } })['authorVerified']).toBe(true);
    expect(auditJson({ line: ACT })).toEqual(ACT);
  });
});

describe('auditWarnings', () => {
  it('S30 tells that parts were deleted, and that lines cannot be read', () => {
    const missing = ['record-sync-000002', 'record-sync-000003', 'record-sync-000004', 'record-sync-000005'];
    expect(auditWarnings({ missing, unreadable: 3 })).toEqual([
      '4 parts of the record are missing: record-sync-000002, record-sync-000003, record-sync-000004. Somebody deleted them, or restored a backup: look in the audit log of the API server',
      '3 lines cannot be read by this version of kubenode',
    ]);
    expect(auditWarnings({ missing: [], unreadable: 0 })).toEqual([]);
  });
});
