import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withProgress } from '../../src/cli/progress.ts';
import { testIo } from '../support/test-io.ts';
import { virtualClock } from '../support/virtual-clock.ts';

describe('withProgress', () => {
  it('prints nothing for work that takes less than a second', async () => {
    const io = testIo({ clock: virtualClock() });
    await withProgress(io, async (progress) => progress.step('quick'));
    expect(io.stderr).toBe('');
  });

  it('prints the step that began in the quiet second and each later step as lines, without a terminal', async () => {
    const clock = virtualClock();
    const io = testIo({ clock });
    await withProgress(io, async (progress) => {
      progress.step('first');
      await clock.advance(1500);
      progress.step('second');
      progress.step('second');
    });
    expect(io.stderr).toBe('first\nsecond\n');
  });

  it('keeps its line within the terminal: one that is wrapped could not be overwritten', async () => {
    const clock = virtualClock();
    const io = testIo({ clock, interactive: true, screen: { columns: 40, rows: 10 } });
    await withProgress(io, async (progress) => {
      progress.step(`creating the repository /home/${'x'.repeat(80)}`);
      await clock.advance(1500);
    });
    const [, line = ''] = stripVTControlCharacters(io.stderr).split('\r');
    expect(line).toMatch(/^creating the repository/);
    expect(line.length).toBeLessThan(40);
  });

  it('overwrites one line on a terminal and clears it at the end, also after a failure', async () => {
    const clock = virtualClock();
    const io = testIo({ clock, interactive: true });
    const work = withProgress(io, async (progress) => {
      progress.step('first');
      await clock.advance(1500);
      throw new Error('broken');
    });
    await expect(work).rejects.toThrow('broken');
    expect(io.stderr).toContain('first');
    expect(io.stderr).not.toContain('\n');
    expect(io.stderr.endsWith('\r\u001B[2K')).toBe(true);
  });
});
