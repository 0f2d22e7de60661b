import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepLogsSmall, LOG_BYTES, shortenLog } from '../../../../src/agent/host/sandbox/logs.ts';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/temp.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

describe('AGT-53 the log of a unit that writes without an end', () => {
  it('keeps its end in the older log, and begins again', async () => {
    const file = join(tempFolder('logs'), 'work.log');
    writeFileSync(file, 'first second');
    await shortenLog(file, 6);
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('second');
    appendFileSync(file, 'third');
    await shortenLog(file, 6);
    expect(readFileSync(file, 'utf8')).toBe('third');
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('second');
  });

  it('is shortened while the unit runs', async () => {
    const directory = tempFolder('logs');
    const file = join(directory, 'work.log');
    const clock = virtualClock();
    const stop = new AbortController();
    const keeping = keepLogsSmall(directory, { clock, signal: stop.signal });
    writeFileSync(file, Buffer.alloc(LOG_BYTES + 1));
    await eventually(async () => {
      await clock.advance(2000);
      return existsSync(`${file}.1`) && statSync(file).size === 0 ? true : undefined;
    }, 'the log was not shortened');
    stop.abort();
    await keeping;
    expect(statSync(`${file}.1`).size).toBe(LOG_BYTES);
  });
});
