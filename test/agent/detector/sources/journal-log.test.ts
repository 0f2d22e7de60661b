import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createJournalLog, journalArguments } from '../../../../src/agent/detector/sources/journal-log.ts';
import { followLog } from '../../../support/agent/followed-log.ts';
import { tempFolder } from '../../../support/temp.ts';

const journal = { identifier: 'kernel', directory: '/var/log/journal' };

describe('journal log', () => {
  it('reads from a time, and later from the last entry', () => {
    const since = new Date('2030-01-01T12:00:00.250Z');
    expect(journalArguments(journal, { since: () => since }).join(' ')).toBe(
      '--follow --no-tail --no-pager --quiet --all --output=json --output-fields=MESSAGE ' +
        '--identifier=kernel --directory=/var/log/journal --since=@1893499200.250000',
    );
    expect(
      journalArguments({ identifier: 'kubelet' }, { since: () => since, position: 's=1' }).slice(7),
    ).toEqual(['--identifier=kubelet', '--after-cursor=s=1']);
  });

  it('delivers the entries that journalctl prints, until it is stopped', async () => {
    const program = writeProgram(`printf '%s\\n' '${entry(1)}' '${entry(2)}'; exec sleep 600`);
    const log = followLog(createJournalLog({ identifier: 'kernel', program }));
    expect(await log.lines(2)).toEqual(['line 1', 'line 2']);
    expect(log.position()).toBe('cursor 2');
    await log.stop();
    expect(await log.ended).toBeUndefined();
  });

  it('stops also when a process that it left behind keeps the pipe open', async () => {
    const program = writeProgram(`printf '%s\\n' '${entry(1)}'; sleep 600 & echo $! > "$0.pid"; wait`);
    const log = followLog(createJournalLog({ identifier: 'kernel', program }));
    await log.lines(1);
    await log.stop();
    expect(await log.ended).toBeUndefined();
    process.kill(Number(readFileSync(`${program}.pid`, 'utf8')));
  });

  it('fails with what journalctl printed when it ends', async () => {
    const program = writeProgram('echo "cannot open journal" >&2; exit 1');
    const log = followLog(createJournalLog({ identifier: 'kernel', program }));
    expect(String(await log.ended)).toContain('ended with exit code 1: cannot open journal');
  });

  it('fails when there is no journalctl, and when there is no such directory', async () => {
    const program = '/no/such/journalctl';
    expect(String(await followLog(createJournalLog({ identifier: 'kernel', program })).ended)).toContain(
      'could not be started',
    );
    const missing = createJournalLog({ identifier: 'kernel', directory: `${tempFolder()}/journal` });
    expect(await followLog(missing).ended).toMatchObject({ code: 'ENOENT' });
  });
});

function entry(number: number): string {
  const time = String(1_893_499_200_000_000 + number);
  return JSON.stringify({
    __CURSOR: `cursor ${number}`,
    __REALTIME_TIMESTAMP: time,
    MESSAGE: `line ${number}`,
  });
}

function writeProgram(script: string): string {
  const path = `${tempFolder('journalctl')}/journalctl`;
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}
