import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createJournalLog, journalArguments } from '../../../../src/agent/detector/sources/journal-log.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { followLog } from '../../../support/agent/followed-log.ts';
import { eventually } from '../../../support/eventually.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { tempFolder } from '../../../support/temp.ts';

const USUAL = { identifier: 'kernel', clock: createSystemClock(), log: memoryLog() };
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
    const log = followLog(createJournalLog({ ...USUAL, program }));
    expect(await log.lines(2)).toEqual(['line 1', 'line 2']);
    expect(log.position()).toBe('cursor 2');
    await log.stop();
    expect(await log.ended).toBeUndefined();
  });

  it('stops also when a process that it left behind keeps the pipe open', async () => {
    const program = writeProgram(`sleep 600 & echo $! > "$0.pid"; printf '%s\\n' '${entry(1)}'; wait`);
    const log = followLog(createJournalLog({ ...USUAL, program }));
    await log.lines(1);
    await log.stop();
    expect(await log.ended).toBeUndefined();
    process.kill(Number(readFileSync(`${program}.pid`, 'utf8')));
  });

  it('fails with what journalctl printed when it ends', async () => {
    const program = writeProgram('echo "cannot open journal" >&2; exit 1');
    const log = followLog(createJournalLog({ ...USUAL, program }));
    expect(String(await log.ended)).toContain('ended with exit code 1: cannot open journal');
  });

  it('reads again and again, from the last entry on, while journalctl ends because inotify is used up', async () => {
    const program = writeProgram(`echo "Insufficient watch descriptors available. Reverting to -n." >&2
echo "$@" >> "$0.calls"
case "$(wc -l < "$0.calls")" in 1) ;; 2) echo '${entry(1)}' ;; 3) echo '${entry(2)}' ;; *) exec sleep 600 ;; esac`);
    const log = memoryLog();
    const sleeps: number[] = [];
    const clock = { ...USUAL.clock, sleep: async (ms: number) => void sleeps.push(ms) };
    const followed = followLog(createJournalLog({ identifier: 'kernel', program, clock, log }));
    expect(await followed.lines(2)).toEqual(['line 1', 'line 2']);
    const calls = await eventually(async () => {
      const lines = readFileSync(`${program}.calls`, 'utf8').trim().split('\n');
      return lines.length === 4 ? lines : undefined;
    }, 'the journal was not read four times');
    expect(calls.map((call) => call.replace(/.*--identifier=kernel /, ''))).toEqual([
      '--since=@0.000000',
      '--since=@0.000000',
      '--after-cursor=cursor 1',
      '--after-cursor=cursor 2',
    ]);
    expect(sleeps).toEqual([5000, 5000, 5000]);
    expect(log.lines.map(({ message, fields }) => [message, fields['because']])).toEqual([
      [
        'journal polled',
        `${program} ended with exit code 0: Insufficient watch descriptors available. Reverting to -n.`,
      ],
    ]);
    await followed.stop();
    expect(await followed.ended).toBeUndefined();
  });

  it('fails when there is no journalctl, and when there is no such directory', async () => {
    const program = '/no/such/journalctl';
    expect(String(await followLog(createJournalLog({ ...USUAL, program })).ended)).toContain(
      'could not be started',
    );
    const missing = createJournalLog({ ...USUAL, directory: `${tempFolder()}/journal` });
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
