import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { readLogMonitor } from '../../../../src/agent/detector/config/log-monitor.ts';
import type { LineFormat } from '../../../../src/agent/detector/config/monitor.ts';
import { createFileLog, parseLine } from '../../../../src/agent/detector/sources/file-log.ts';
import type { LogSource } from '../../../../src/agent/detector/sources/log-source.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { fileMonitor } from '../../../support/agent/detector-config.ts';
import { followLog } from '../../../support/agent/followed-log.ts';
import { tempFolder } from '../../../support/temp.ts';

const format = formatOf();
let path: string;
let source: LogSource;

beforeEach(() => {
  path = `${tempFolder('log')}/kern.log`;
  source = createFileLog({ path, format, skipList: ['audit['], clock: createSystemClock() });
});

describe('file log', () => {
  it('reads what is there, and what is appended, also in parts of a line', async () => {
    writeFileSync(path, line('one') + line('two'));
    const log = followLog(source);
    expect(await log.lines(2)).toEqual(['one', 'two']);
    appendFileSync(path, line('three').slice(0, 20));
    appendFileSync(path, line('three').slice(20));
    expect(await log.lines(3)).toEqual(['one', 'two', 'three']);
  });

  it('reads the rest of a file that was rotated, and then the new one', async () => {
    writeFileSync(path, line('one'));
    const log = followLog(source);
    await log.lines(1);
    appendFileSync(path, line('two'));
    renameSync(path, `${path}.1`);
    writeFileSync(path, line('three'));
    expect(await log.lines(3)).toEqual(['one', 'two', 'three']);
  });

  it('loses no line that comes just before a rotation, after the end of the file was read', async () => {
    writeFileSync(path, line('one'));
    let reads = 0;
    const log = followLog(source, {
      opened: () => {
        reads += 1;
        if (reads !== 2) return;
        appendFileSync(path, line('two'));
        renameSync(path, `${path}.1`);
        writeFileSync(path, line('three'));
      },
    });
    expect(await log.lines(3)).toEqual(['one', 'two', 'three']);
  });

  it('begins again with a file that was emptied', async () => {
    writeFileSync(path, line('one') + line('two'));
    const log = followLog(source);
    await log.lines(2);
    truncateSync(path);
    appendFileSync(path, line('three'));
    expect(await log.lines(3)).toEqual(['one', 'two', 'three']);
  });

  it('AGT-73 continues where the one before it ended, and with a new file from its start', async () => {
    writeFileSync(path, `${line('one')}${line('two').slice(0, 10)}`);
    const first = followLog(source);
    await first.lines(1);
    await first.stop();
    const position = first.position() ?? '';
    appendFileSync(path, line('two').slice(10));
    const second = followLog(source, { position });
    expect(await second.lines(1)).toEqual(['two']);
    await second.stop();
    renameSync(path, `${path}.1`);
    writeFileSync(path, line('three'));
    expect(await followLog(source, { position }).lines(1)).toEqual(['three']);
  });

  it('leaves out earlier lines, and lines without a time or a message', async () => {
    const lines = [line('old', 'Jan  1 00:00:00'), 'no time\n', 'Jun  1 00:00:00 no message\n', line('new')];
    writeFileSync(path, lines.join(''));
    const since = new Date(`${createSystemClock().now().getFullYear()}-03-01`);
    expect(await followLog(source, { since }).lines(1)).toEqual(['new']);
  });

  it('AGT-70 leaves out lines of the skip list, also by what is before the message', async () => {
    writeFileSync(path, line('one').replace('node', 'audit[1]') + line('by audit[2]') + line('three'));
    expect(await followLog(source).lines(1)).toEqual(['three']);
  });

  it('fails when there is no such file', async () => {
    expect(await followLog(source).ended).toMatchObject({ code: 'ENOENT' });
  });

  it('does not count as opened when it can be opened but not read', async () => {
    mkdirSync(path);
    const log = followLog(source);
    expect(await log.ended).toMatchObject({ code: 'EISDIR' });
    expect(log.wasOpened()).toBe(false);
  });

  it('fails for a named pipe that no program writes to', async () => {
    execFileSync('mkfifo', [path]);
    expect(await followLog(source).ended).toMatchObject({ code: 'ESPIPE' });
  });

  it('takes the last group of a pattern, and all of one without groups', () => {
    const found = parseLine(line('message').trimEnd(), format, new Date('2030-01-01'));
    expect(found).toEqual({ message: 'message', time: new Date(2030, 5, 1) });
  });
});

function line(message: string, time = 'Jun  1 00:00:00'): string {
  return `${time} node kernel: [  1.0] ${message}\n`;
}

function formatOf(): LineFormat {
  const { input } = readLogMonitor(fileMonitor, '');
  if (input.plugin !== 'filelog') throw new Error('not a file');
  return input.format;
}
