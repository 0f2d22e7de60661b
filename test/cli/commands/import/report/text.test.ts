import { describe, expect, it } from 'vitest';
import { formatReports, formatSummary } from '../../../../../src/cli/commands/import/report/text.ts';
import { hostReport } from './hosts.ts';

const SWAP = { check: 'Swap', state: 'Fail', found: '/swapfile', hint: 'run swapoff -a' } as const;

describe('formatReports', () => {
  it('prints keys, checks and what to do, of one host all of them', () => {
    const report = hostReport({
      state: 'Fail',
      checks: [SWAP, { check: 'Kernel', state: 'Pass', found: '6.1.0' }],
      skippedChecks: ['DNS'],
    });
    expect(formatReports([report], { columns: 100, isFull: true })).toBe(`root@n1:22   Fail   n1
  host key   ssh-ed25519 SHA256:${'a'.repeat(43)}
  trust      compare them with those of the host before you pin them (on its console: ssh-keygen -lf
             FILE for each /etc/ssh/ssh_host_*_key.pub)
  checks     1 of 2 checks passed; skipped: DNS

CHECK    STATE   FOUND
Swap     Fail    /swapfile. To do: run swapoff -a
Kernel   Pass    6.1.0

1 host: 1 failed
`);
  });

  it('prints of several hosts what is to do, and errors with their hint', () => {
    const error = { code: 'Timeout', message: 'no SSH connection within 30 s', hint: 'check that it is up' };
    const reports = [
      hostReport({ hostKeysPinned: true }),
      hostReport({ host: 'root@n2:22', state: 'Error', hostKeys: [], checks: [], error }),
    ];
    expect(formatReports(reports, { columns: 100, isFull: false })).toBe(`root@n1:22   Pass   n1
  host key   ssh-ed25519 SHA256:${'a'.repeat(43)}
  trust      pinned, and the host has it
  checks     1 of 1 check passed

root@n2:22   Error   n1
  error      no SSH connection within 30 s
  hint       check that it is up

2 hosts: 1 passed, 1 could not be checked
`);
  });

  it('prints what a host reports as text, never as a control sequence', () => {
    const report = hostReport({
      state: 'Warn',
      name: '\u001b[2Jn1',
      checks: [{ ...SWAP, found: 'a\u001b]0;x\u0007\nb' }],
    });
    const text = formatReports([report], { columns: 80, isFull: true });
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});

describe('formatSummary', () => {
  it('counts each state that there is', () => {
    const states = ['Pass', 'Warn', 'Warn', 'Fail', 'Error'] as const;
    expect(formatSummary(states.map((state) => hostReport({ state })))).toBe(
      '5 hosts: 1 passed, 2 with warnings, 1 failed, 1 could not be checked\n',
    );
  });
});
