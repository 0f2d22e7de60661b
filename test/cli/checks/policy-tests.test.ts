import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runPolicyTests } from '../../../src/cli/checks/policy-tests.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import {
  createFleetFolder,
  createFleetRepository,
  createTestRenderer,
  program,
} from '../../support/fleet-repository.ts';
import { testIo } from '../../support/test-io.ts';

const renderer = createTestRenderer();
const FILE = 'rules/test/policies/limits.ts';

function testFile(expected: string): string {
  return `import { policyTests } from 'kubenode/constructs';
import { limits } from '../../limits.ts';
export const tests = policyTests({ 'fleet-default': limits }, [
  {
    name: 'reboots one machine',
    expect: '${expected}',
    facts: { machines: [{ name: 'm', count: 9, zone: 'a' }] },
    ask: { machine: 'm-1', action: 'Reboot' },
  },
]);
`;
}

function fleet(tests: string, folder = '.'): Record<string, string> {
  return {
    [join(folder, FILE)]: tests,
    [join(folder, 'rules/limits.ts')]:
      "export const limits = { scope: { nodeSelector: { all: true } }, concurrency: [{ name: 'zone', per: 'Zone', max: 1 }] };\n",
    [join(folder, 'main.ts')]: program(),
  };
}

async function run(
  folder: string,
  ...args: readonly string[]
): Promise<{ code: number; out: string; err: string }> {
  const io = testIo({ cwd: folder });
  const code = await runCommandLine(io, [...args]);
  return { code, out: io.stdout, err: io.stderr };
}

const FAILED = 'policy test "reboots one machine": expected NodeBusy, got Granted';

describe('the tests of policies', () => {
  it('pass for the policies of this repository', async () => {
    const folder = join(import.meta.dirname, '../../..');
    const { count, failures } = await runPolicyTests(renderer, { folder });
    expect(failures).toEqual([]);
    expect(count).toBeGreaterThan(5);
  });

  it('are run by kubenode validate, which names file, test and both verdicts', async () => {
    const bad = createFleetFolder(fleet(testFile('NodeBusy')));
    const { code, out, err } = await run(bad, 'validate', 'rules');
    expect(code).toBe(65);
    expect(out).toMatch(/^rules\/test\/policies\/limits\.ts:5 /m);
    expect(out).toContain(FAILED);
    expect(err).toContain('1 policy test run');
    const good = createFleetFolder(fleet(testFile('Granted')));
    expect(await run(good, 'validate', FILE)).toMatchObject({
      code: 0,
      out: '0 objects in 0 files read, 1 policy test run\n',
    });
  });

  it('are run by kubenode plan, and refuse the change that breaks one', async () => {
    const repository = createFleetRepository();
    repository.commit('first', fleet(testFile('Granted')));
    repository.commit('second', { [FILE]: testFile('NodeBusy') });
    const { code, out } = await run(repository.dir, 'plan', '--no-live', '--from', 'HEAD^', '--to', 'HEAD');
    expect(code).toBe(1);
    expect(out).toContain(`! refused: policies of the fleet: ${FAILED} [${FILE}:5]`);
  });

  it.each([
    [
      'reads a file of the host',
      "import { readFileSync } from 'node:fs';\nreadFileSync('/etc/hostname');",
      /Access to this API|permission/i,
    ],
    [
      'starts a program',
      "import { execSync } from 'node:child_process';\nexecSync('true');",
      /child_process/,
    ],
    ['imports a package that is not in the toolchain', "import 'vitest';", /vitest/],
    ['throws', "throw new Error('broken');", /broken/],
    ['exports no tests', 'export const other = 1;', /expected `export const tests/],
  ])('are isolated as a render is: a file that %s fails', async (_, text, message) => {
    const { count, failures } = await runPolicyTests(renderer, {
      folder: createFleetFolder({ [FILE]: `${text}\n` }),
    });
    expect(count).toBe(0);
    expect(failures[0]?.file).toBe(FILE);
    expect(failures[0]?.message).toMatch(message);
  });

  it('print no control characters of a test', async () => {
    const text = testFile('NodeBusy').replace("'m-1'", "'\\u001b[2Jm-1'");
    const { failures } = await runPolicyTests(renderer, { folder: createFleetFolder(fleet(text)) });
    expect(failures[0]?.message).toContain('got FactUnknown');
    expect(failures[0]?.message).not.toContain('\u001b');
  });

  it('belong to the fleet of their folder, and a fleet without them needs no sandbox', async () => {
    const folder = createFleetFolder({ ...fleet(testFile('NodeBusy'), 'one'), 'two/main.ts': program() });
    expect((await runPolicyTests(renderer, { folder, path: 'one' })).failures).toHaveLength(1);
    expect(await runPolicyTests(renderer, { folder, path: 'two' })).toEqual({ count: 0, failures: [] });
  });
});
