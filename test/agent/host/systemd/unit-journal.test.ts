import { describe, expect, it } from 'vitest';
import { createUnitEvidenceReader, describeStop } from '../../../../src/agent/host/systemd/unit-journal.ts';
import type { UnitProperties } from '../../../../src/agent/host/systemd/unit-properties.ts';

const STOPPED = JSON.stringify({ MESSAGE: 'Stopped kubelet.', JOB_TYPE: 'stop', JOB_RESULT: 'done' });
const NOBODY = 'somebody had systemd stop it; the journal does not have the name';

function sudo(command: string, user = 'alice'): string {
  return JSON.stringify({ MESSAGE: `${user} : TTY=pts/0 ; PWD=/home ; USER=root ; COMMAND=${command}` });
}

describe('describeStop', () => {
  it.each<[what: string, entries: readonly string[], expected: string | undefined]>([
    [
      'the user of sudo',
      [sudo('/usr/bin/systemctl stop kubelet'), STOPPED],
      'alice had it stopped with sudo: /usr/bin/systemctl stop kubelet',
    ],
    [
      'the last one, by the full name of the unit',
      [
        sudo('/usr/bin/systemctl status kubelet', 'bob'),
        sudo('/usr/bin/systemctl mask --now kubelet.service'),
        STOPPED,
      ],
      'alice had it stopped with sudo: /usr/bin/systemctl mask --now kubelet.service',
    ],
    ['nobody, when sudo was about another unit', [sudo('/usr/bin/systemctl stop kube'), STOPPED], NOBODY],
    [
      'nobody, when sudo only asked for the state',
      [sudo('/usr/bin/systemctl status kubelet'), STOPPED],
      NOBODY,
    ],
    ['nobody, when sudo ran another program', [sudo('/usr/bin/less kubelet'), STOPPED], NOBODY],
    [
      'nobody, for a unit that failed to start after the stop of a restart',
      [STOPPED, JSON.stringify({ JOB_TYPE: 'start', JOB_RESULT: 'failed' })],
      undefined,
    ],
    ['nobody, for a unit that ended by itself', [sudo('/usr/bin/systemctl stop kubelet')], undefined],
    ['nobody, for what is not an entry', ['', '{', '[]', 'null'], undefined],
  ])('AGT-31 names who had a unit stopped: %s', (_what, entries, expected) => {
    expect(describeStop('kubelet', entries.join('\n'))).toBe(expected);
  });
});

function reader(stdout: string, exitCode = 0) {
  const asked: string[] = [];
  const read = createUnitEvidenceReader(async (argv) => {
    asked.push(argv.join(' '));
    return { exitCode, stdout, stderr: '' };
  });
  return { asked, read };
}

describe('createUnitEvidenceReader', () => {
  const failed: UnitProperties = {
    exists: true,
    active: 'Failed',
    needsReload: false,
    restarts: 0,
    reason: 'exit-code',
    endedAt: '2030-01-01T00:00:10.000Z',
  };

  it('AGT-31 shows the last log lines of a unit that failed, without secrets, and asks once', async () => {
    const { asked, read } = reader('panic: no config\ntoken: abcdefghijklmnop1234567890\n');
    const text = await read('kubelet', failed);
    expect(text).toMatch(/^its last log lines: panic: no config \| token: /);
    expect(text).not.toContain('abcdefghijklmnop');
    expect(await read('kubelet', failed)).toBe(text);
    expect(asked).toHaveLength(2);
    await read('kubelet', { ...failed, endedAt: '2030-01-01T00:00:20.000Z' });
    expect(asked).toHaveLength(4);
  });

  it('AGT-31 looks for who stopped a unit in the two minutes before its end', async () => {
    const { asked, read } = reader(STOPPED);
    expect(await read('kubelet', { ...failed, active: 'Inactive' })).toBe(NOBODY);
    expect(asked[0]).toContain('--since=@1893455890 --until=@1893456011');
    expect(asked[0]).toContain('UNIT=kubelet.service _PID=1 + _COMM=sudo _UID=0');
  });

  it('has nothing where the journal cannot be read, and asks again', async () => {
    const { asked, read } = reader('x', 1);
    expect(await read('kubelet', failed)).toBeUndefined();
    expect(await read('kubelet', failed)).toBeUndefined();
    expect(asked).toHaveLength(4);
  });
});
