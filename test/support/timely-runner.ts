/**
 * A runner of vitest that begins no file after KUBENODE_TESTS_UNTIL, in milliseconds since the epoch: .ci/run ends within its limit also on
 * a slow machine. A file that is left out is not even imported. It is printed, counts as one skipped
 * test, and has a line in the file KUBENODE_LEFT_OUT.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { it, TestRunner, type VitestTestRunner } from 'vitest';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { endSkippedFile } from './leak-guard/skipped.ts';

const clock = createSystemClock();
type Source = Parameters<VitestTestRunner['importFile']>[1];

export class TimelyRunner extends TestRunner {
  override importFile(path: string, source: Source): unknown {
    const isLeftOut =
      source === 'collect' && isOver(process.env['KUBENODE_TESTS_UNTIL'], Number(clock.now()));
    if (!isLeftOut) return super.importFile(path, source);
    const name = relative('', path);
    process.stderr.write(`skipped, no time is left for it: ${name}\n`);
    const list = process.env['KUBENODE_LEFT_OUT'];
    if (list) appendFileSync(list, `${name}\n`);
    // oxlint-disable-next-line vitest/no-disabled-tests, vitest/expect-expect -- it stands for the tests of the file
    it.skip('was left out: no time is left for it', () => undefined);
    return undefined;
  }

  override onAfterRunFiles(...[files]: Parameters<TestRunner['onAfterRunFiles']>): void {
    super.onAfterRunFiles(files);
    if (files?.every(({ mode }) => mode === 'skip' || mode === 'todo')) endSkippedFile();
  }
}

/** Returns whether the time is at or after a limit. Without a limit it never is. */
export function isOver(until: string | undefined, nowMs: number): boolean {
  return until !== undefined && until !== '' && nowMs >= Number(until);
}

// oxlint-disable-next-line import/no-default-export -- vitest reads the default export
export default TimelyRunner;
