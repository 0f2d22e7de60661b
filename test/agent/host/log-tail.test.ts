import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanLogTail, readCleanLogTail } from '../../../src/agent/host/log-tail.ts';
import { tempFolder } from '../../support/temp.ts';

const SECRET = `Bearer ${'s3cr3t'.repeat(20)}`;

function logFile(content: string): string {
  const path = join(tempFolder('log-tail'), 'work.log');
  writeFileSync(path, content);
  return path;
}

describe('cleanLogTail', () => {
  it('AGT-16 shows no secret and no control character', () => {
    const shown = cleanLogTail(Buffer.from(`sent ${SECRET}\nthen \u001b[31mred\n`), 700);
    expect(shown).toBe('sent Bearer ***\nthen \\u001b[31mred\n');
  });

  it('AGT-16 shows no end of a secret that the limit cuts', () => {
    expect(cleanLogTail(Buffer.from(`sent ${SECRET}\nend\n`), 30)).toBe('sent Bearer ***\nend\n');
  });

  it('keeps the last bytes', () => {
    expect(cleanLogTail(Buffer.from('first second'), 6)).toBe('second');
  });
});

describe('readCleanLogTail', () => {
  it('reads the end of a long file, and knows what is before it', async () => {
    const path = logFile(`${'early\n'.repeat(20_000)}${SECRET}\nlast line\n`);
    expect(await readCleanLogTail(path, 20)).toBe('earer ***\nlast line\n'.slice(-20));
  });

  it('is empty without a file, and for an empty one', async () => {
    expect(await readCleanLogTail('/does/not/exist', 20)).toBe('');
    expect(await readCleanLogTail(logFile(''), 20)).toBe('');
  });
});
