import { describe, expect, it } from 'vitest';
import { type AuditAct, type AuditLine, parseLines, serializeLine } from '../../../src/api/audit/lines.ts';

const ACT: AuditAct = {
  type: 'act',
  at: '2030-01-01T12:00:00.000Z',
  machine: 'm-1',
  action: 'Reboot',
  risk: 'Disruptive',
  grant: 'g-7-0',
  grantedAt: '2030-01-01T11:59:00.000Z',
  holder: 'RemedyOperationJob/m-1-job',
  outcome: 'Succeeded',
};

describe('lines of the audit record', () => {
  it.each<AuditLine>([
    ACT,
    { type: 'commit', at: ACT.at, commit: 'c1', pipeline: 'fleet', cluster: 'prod', author: 'Ann\nE. "x"' },
    {
      type: 'answer',
      at: ACT.at,
      machine: 'm-1',
      action: 'Reboot',
      holder: 'A/b',
      decision: 'Approved',
      by: 'ann',
    },
    { type: 'closure', at: ACT.at, breaker: 'p/b/k', by: 'ann', reason: 'fixed' },
    {
      type: 'object',
      at: ACT.at,
      object: 'ConfigMap web/a',
      unit: 'web',
      commit: 'c1',
      act: 'Created',
      outcome: 'Succeeded',
      because: 'new in git',
    },
  ])('S30 come back as they were written: $type', (line) => {
    const text = serializeLine(line);
    expect(text.split('\n')).toHaveLength(2);
    expect(parseLines(text)).toEqual({ lines: [line], unreadable: 0 });
  });

  it.each([
    ['no JSON', 'g-7-0 m-1'],
    ['of a later version', JSON.stringify({ ...ACT, type: 'sign' })],
    ['without its machine', JSON.stringify({ ...ACT, machine: undefined })],
    ['without a time', JSON.stringify({ ...ACT, at: 'yesterday' })],
    ['a list', '[]'],
    ['of a type that every object has', JSON.stringify({ ...ACT, type: 'constructor' })],
  ])('S30 count as unreadable, and hide no other line: %s', (_, text) => {
    expect(parseLines(`${text}\n${serializeLine(ACT)}`)).toEqual({ lines: [ACT], unreadable: 1 });
  });

  it('S30 have a bounded size, whatever an author or a server wrote', () => {
    const line: AuditLine = {
      type: 'commit',
      at: ACT.at,
      commit: 'c1',
      pipeline: 'fleet',
      cluster: 'prod',
      author: 'a'.repeat(1e5),
      approvals: [
        {
          stage: 'prod',
          reason: 'r'.repeat(1e5),
        },
      ],
    };
    const text = serializeLine(line);
    expect(text.length).toBeLessThan(1500);
    expect(parseLines(text).unreadable).toBe(0);
  });
});
