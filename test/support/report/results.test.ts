import { expect, it } from 'vitest';
import { projectOf } from './results.ts';

it.each([
  ['test/cluster/cli/halt.test.ts', 'cluster'],
  ['test/e2e/demo.test.ts', 'e2e'],
  ['test/nodes/agent/host.test.ts', 'nodes'],
  ['test/sync/git/file.test.ts', 'unit'],
  ['test/support/cluster/x.test.ts', 'unit'],
  ['failing.fixture.ts', 'unit'],
])('names the project that runs %s alone', (file, project) => {
  expect(projectOf(file)).toBe(project);
});
