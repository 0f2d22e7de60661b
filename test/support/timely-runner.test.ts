import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { tempFolder } from './temp.ts';
import { isOver } from './timely-runner.ts';

const clock = createSystemClock();
const ROOT = join(import.meta.dirname, '../..');
const FILE = `
import { beforeAll, describe, it } from 'vitest';
process.stdout.write('imported\\n');
beforeAll(() => process.stdout.write('prepared\\n'));
describe('a group', () => it('runs', () => process.stdout.write('ran\\n')));
`;

async function runWith(until: string): Promise<string> {
  const folder = tempFolder('timely');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'a.test.ts'), FILE.replace("'vitest'", `'${ROOT}/node_modules/vitest'`));
  writeFileSync(
    join(folder, 'vitest.config.mts'),
    [
      `import { Totals } from '${import.meta.dirname}/report/reporter.ts';`,
      `const runner = '${import.meta.dirname}/timely-runner.ts';`,
      `export default { test: { runner, reporters: ['default', new Totals()], include: ['*.test.ts'] } };`,
    ].join('\n'),
  );
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [vitest, 'run', '--root', folder], {
    env: {
      ...process.env,
      KUBENODE_TESTS_UNTIL: until,
      KUBENODE_LEFT_OUT: join(folder, 'left-out'),
      // CI counts what is in its own file.
      KUBENODE_RESULTS: join(folder, 'results'),
      NO_COLOR: '1',
    },
  });
  const list = join(folder, 'left-out');
  return stdout + stderr + (existsSync(list) ? `listed: ${readFileSync(list, 'utf8')}` : 'nothing listed');
}

describe('the runner of tests with a limit of time', () => {
  it('runs files until the limit', async () => {
    const output = await runWith(String(Number(clock.now()) + 600_000));
    expect(output).toContain('prepared');
    expect(output).toContain('1 passed, 0 failed, 0 skipped');
    expect(output).toContain('nothing listed');
  });

  it('imports, prepares and runs nothing of a file after it, and names the file', async () => {
    const output = await runWith(String(Number(clock.now()) - 1));
    expect(output).toMatch(/skipped, no time is left for it: .*a\.test\.ts/);
    expect(output).toContain('0 passed, 0 failed, 1 skipped');
    expect(output).toMatch(/listed: .*a\.test\.ts\n$/);
    expect(output).not.toMatch(/imported|prepared/);
  });

  it.each([
    [undefined, false],
    ['', false],
    ['1001', false],
    ['1000', true],
    ['999', true],
  ])('has the limit %s', (until, expected) => {
    expect(isOver(until, 1000)).toBe(expected);
  });
});
