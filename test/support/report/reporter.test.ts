import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../temp.ts';
import { countAll } from './results.ts';
import { readResults } from './results-file.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const VITEST = join(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs');

it('prints the totals of a run, and records each failure whole, also those outside of tests', () => {
  const file = join(tempFolder('results'), 'results');
  const { stdout, stderr, status } = spawnSync(process.execPath, [VITEST, 'run', '--root', FIXTURES], {
    encoding: 'utf8',
    env: {
      ...process.env,
      CI: 'true',
      KUBENODE_RESULTS: file,
      KUBENODE_SEED: '7',
      CACHE_FOLDER: tempFolder('vite'),
    },
  });
  expect(status).toBe(1);
  // The comparison, the hook and the import; the test behind the hook is skipped.
  expect(stdout).toContain('\n1 passed, 3 failed, 2 skipped (seed 7)\n');
  const [result, ...others] = readResults(file);
  if (!result) throw new Error('no result was recorded');
  expect(others).toEqual([]);
  expect(countAll(result)).toEqual({ passed: 1, failed: 3, skipped: 2 });
  const failures = result.files.flatMap(({ file: name, failures: found }) =>
    found.map(({ test, error }) => [name, test, error] as const),
  );
  expect(failures.map(([name, test]) => `${name} > ${test}`).toSorted()).toEqual([
    'broken.fixture.ts > the file',
    'failing.fixture.ts > a suite whose hook fails',
    'failing.fixture.ts > compares',
  ]);
  // Vitest prints them at the end only.
  expect(stderr).toMatch(/FAILED failing\.fixture\.ts > compares\n[^]*-\s+"b": 3/);
  const errors = failures.map(([, , error]) => error).join('\n');
  expect(errors).toContain('the import failed');
  expect(errors).toContain('the hook failed');
  // What was expected and received, and where.
  expect(errors).toMatch(/-\s+"b": 3/);
  expect(errors).toMatch(/\+\s+"b": 2/);
  expect(errors).toContain('failing.fixture.ts:9');
});
