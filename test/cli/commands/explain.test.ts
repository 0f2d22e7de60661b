import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/run.ts';
import { testIo } from '../../support/test-io.ts';

async function explain(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = testIo();
  const code = await runCommandLine(io, ['explain', ...args]);
  return { code, out: io.stdout, err: io.stderr };
}

describe('kubenode explain', () => {
  it('lists all kinds', async () => {
    const { out } = await explain();
    expect(out).toMatch(/^KIND +SHORT NAME +DESCRIPTION\n/);
    expect(out).toMatch(/^Pipeline +knp +/m);
  });

  it.each(['pipeline', 'pipelines', 'knp', 'Pipeline'])('finds a kind by %s', async (name) => {
    expect((await explain(`${name}.spec.stages`)).out).toMatch(
      /^KIND: {5}Pipeline .*\nFIELD: {4}spec\.stages <list of object> {2}at least 1, at most \d+\n/,
    );
  });

  it('shows the values and the default of a single field', async () => {
    expect((await explain('machinecomponent.spec.files.drift')).out).toMatch(
      /^FIELD: {4}spec\.files\.drift <string> {2}Correct\|Report\|Ignore, default "Correct"$/m,
    );
  });

  it('prints the same as JSON', async () => {
    const { out } = await explain('knp.spec.stages', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({ kind: 'Pipeline', path: 'spec.stages', type: 'list of object' });
  });

  it.each([
    ['foo', /kind foo not found\n {2}hint: use one of: Cluster/],
    ['pipeline.spec.stage', /field stage not found in Pipeline\.spec\n {2}hint: use one of: .*stages/],
    [
      'pipeline.spec.paused.x',
      /field x not found in Pipeline\.spec\.paused\n.*Pipeline\.spec\.paused has no fields/,
    ],
  ])('fails with a hint for %s', async (name, message) => {
    const { code, err } = await explain(name);
    expect(code).toBe(64);
    expect(err).toMatch(message);
  });
});
